// These functions return batches of NumberedSamples as the numbers of their samples.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "penstock/data_loader.hpp"
#include "tests/support/numbered_samples.hpp"

namespace penstock::testing {

/// Numbers are the numbers of samples, in their order.
using Numbers = std::vector<std::int64_t>;

/// Checks that both fields of a batch agree, and returns the numbers of its samples.
inline Numbers numbers_of(const Batch& batch) {
  const auto labels = batch.at(1).as<std::int64_t>();
  const auto values = batch.at(0).as<float>();
  EXPECT_EQ(values.size(), 2 * labels.size());
  for (std::size_t row = 0; row < labels.size(); ++row)
    EXPECT_EQ(values[2 * row + 1], static_cast<float>(labels[row]));
  return {labels.begin(), labels.end()};
}

inline std::vector<Numbers> rest_of_epoch(DataLoader& loader) {
  std::vector<Numbers> batches;
  while (const auto batch = loader.next()) batches.push_back(numbers_of(*batch));
  return batches;
}

inline std::vector<Numbers> next_epoch(DataLoader& loader) {
  loader.start_epoch();
  return rest_of_epoch(loader);
}

inline Numbers joined(const std::vector<Numbers>& batches) {
  Numbers all;
  for (const Numbers& batch : batches) all.insert(all.end(), batch.begin(), batch.end());
  return all;
}

inline std::shared_ptr<NumberedSamples> numbered(std::int64_t count) {
  return std::make_shared<NumberedSamples>(count);
}

}  // namespace penstock::testing
