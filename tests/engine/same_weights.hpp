// These functions compare the weights of two models, and the states of two optimizers, bit by bit.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#include "penstock/model.hpp"
#include "penstock/named_tensor.hpp"
#include "tests/support/same_bits.hpp"

namespace penstock::testing {

inline void expect_same_weights(const Model& a, const Model& b) {
  for (const ParameterInfo& info : a.parameters())
    EXPECT_TRUE(same_bits(a.weight(info.name), b.weight(info.name))) << info.name;
}

inline void expect_same_state(const std::vector<NamedTensor>& a,
                              const std::vector<NamedTensor>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].name, b[i].name);
    EXPECT_TRUE(same_bits(a[i].tensor, b[i].tensor)) << a[i].name;
  }
}

}  // namespace penstock::testing
