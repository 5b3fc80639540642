#include "graph/kernels/isa.hpp"

#include <gtest/gtest.h>

#include <string>

#include "penstock/error.hpp"

namespace penstock::graph {
namespace {

TEST(Isa, IsTheWidestThatTheMachineHasUnlessNamed) {
  EXPECT_EQ(choose_isa(nullptr), available_isas().back());
  for (const Isa isa : available_isas())
    EXPECT_EQ(choose_isa(std::string(to_string(isa)).c_str()), isa);
}

TEST(Isa, RefusesWhatTheMachineLacksAndNamesWhatItHas) {
  for (const char* name : {"", "sse9", "AVX2"}) {
    try {
      choose_isa(name);
      FAIL() << "accepted " << name;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Errc::invalid_argument);
      const std::string text = error.what();
      EXPECT_NE(text.find("got \"" + std::string(name) + "\""), text.npos) << text;
      for (const Isa isa : available_isas())
        EXPECT_NE(text.find(to_string(isa)), text.npos) << text;
    }
  }
}

}  // namespace
}  // namespace penstock::graph
