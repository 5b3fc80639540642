#include "engine/model/name_index.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace penstock {
namespace {

using NameList = std::vector<std::string>;

/// An Indexed has a list of names, and an index that counts the names that it learns.
struct Indexed {
  NameList names;
  NameIndex index = {};
  int learnt = 0;

  std::optional<std::size_t> find(const std::string& name) {
    const auto name_of = [this](std::size_t i) -> const std::string& {
      ++learnt;
      return names[i];
    };
    return index.find(names.size(), name_of, name);
  }
  void keep(std::size_t count) {
    index.keep(count);
    names.resize(count);
  }
};

TEST(NameIndex, FindsTheFirstOfEqualNames) {
  Indexed list{{"a", "b", "a"}};
  EXPECT_EQ(list.find("a"), 0U);
  EXPECT_EQ(list.find("b"), 1U);
  EXPECT_EQ(list.find("c"), std::nullopt);
}

TEST(NameIndex, LearnsEachNameOnce) {
  Indexed list;
  for (int i = 0; i < 100; ++i) {
    const std::string name = std::to_string(i);
    EXPECT_EQ(list.find(name), std::nullopt);
    list.names.push_back(name);
    EXPECT_EQ(list.find(name), static_cast<std::size_t>(i));
  }
  EXPECT_EQ(list.learnt, 100);
}

TEST(NameIndex, ForgetsNamesThatAreTakenBack) {
  Indexed list{{"a", "b", "a", "c"}};
  EXPECT_EQ(list.find("c"), 3U);
  list.keep(1);
  list.names.push_back("c");
  EXPECT_EQ(list.find("b"), std::nullopt);
  EXPECT_EQ(list.find("a"), 0U);
  EXPECT_EQ(list.find("c"), 1U);
  list.keep(0);
  list.names = {"x", "a"};
  EXPECT_EQ(list.find("a"), 1U);
  EXPECT_EQ(list.find("c"), std::nullopt);
}

TEST(NameIndex, IsCopiedAsOneThatHasToLearn) {
  Indexed list{{"a", "b"}};
  EXPECT_EQ(list.find("b"), 1U);
  Indexed copy = list;
  copy.names = {"c", "a"};
  EXPECT_EQ(copy.find("a"), 1U);
  EXPECT_EQ(copy.find("b"), std::nullopt);
  copy.index = list.index;
  copy.names = {"d"};
  EXPECT_EQ(copy.find("a"), std::nullopt);
  EXPECT_EQ(list.find("a"), 0U);
}

}  // namespace
}  // namespace penstock
