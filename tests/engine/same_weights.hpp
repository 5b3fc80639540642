// expect_same_weights() compares two models bit by bit.
#pragma once

#include <gtest/gtest.h>

#include "penstock/model.hpp"
#include "tests/support/same_bits.hpp"

namespace penstock::testing {

inline void expect_same_weights(const Model& a, const Model& b) {
  for (const ParameterInfo& info : a.parameters())
    EXPECT_TRUE(same_bits(a.weight(info.name), b.weight(info.name))) << info.name;
}

}  // namespace penstock::testing
