// expect_same_history() compares what two trainings by fit() have done, but for times.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <vector>

#include "penstock/fit.hpp"

namespace penstock::testing {

/// Appends the bits of `values`, which tell nans apart, too.
inline void add_values(std::vector<std::int64_t>& to, const std::vector<NamedValue>& values) {
  for (const NamedValue& value : values) to.push_back(std::bit_cast<std::int64_t>(value.value));
}

inline void expect_same_history(const History& a, const History& b) {
  EXPECT_EQ(a.updates, b.updates);
  EXPECT_FALSE(a.cancelled || b.cancelled);
  ASSERT_EQ(a.epochs.size(), b.epochs.size());
  for (std::size_t i = 0; i < a.epochs.size(); ++i) {
    const EpochRecord &one = a.epochs[i], &other = b.epochs[i];
    EXPECT_EQ(one.epoch, other.epoch);
    EXPECT_EQ(one.steps, other.steps);
    EXPECT_EQ(one.updates, other.updates);
    EXPECT_EQ(one.validation_samples, other.validation_samples);
    std::vector<std::int64_t> values, others;
    add_values(values, one.values);
    add_values(others, other.values);
    EXPECT_EQ(values, others);
  }
}

}  // namespace penstock::testing
