#include "engine/names/known_names.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace penstock {
namespace {

TEST(KnownNames, AreOfferedWhereOneOfThemIsLikeTheUnknownName) {
  EXPECT_EQ(instead_of("fc1.weights", {"fc1.weight", "fc1.bias"}),
            "; did you mean \"fc1.weight\"?");
  EXPECT_EQ(instead_of("probabilities", {"y", "log_probabilities"}),
            "; did you mean \"log_probabilities\"?");
}

TEST(KnownNames, AreListedWhereNoneIsLikeTheUnknownName) {
  EXPECT_EQ(instead_of("logits", {"y", "loss"}), "; there are: y, loss");
  EXPECT_EQ(instead_of("logits", {"y"}), "; there is: y");
  EXPECT_EQ(instead_of("z", {"y"}), "; there is: y");
  EXPECT_EQ(instead_of("logits", {}), "; there is none");
}

TEST(KnownNames, AreOnePrintableLineHoweverManyThereAre) {
  const std::vector<std::string> names(14, "a\nb");
  EXPECT_EQ(instead_of("logits", names, std::identity()),
            "; there are: a?b, a?b, a?b, a?b, a?b, a?b, a?b, a?b, a?b, a?b, a?b, a?b and 2 more");
}

}  // namespace
}  // namespace penstock
