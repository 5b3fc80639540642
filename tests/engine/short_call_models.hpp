// These functions make a model with batch statistics whose loss is an output, too, and samples and
// options for full and short calls of it.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "penstock/model.hpp"
#include "penstock/options.hpp"
#include "tests/engine/unchecked_indices.hpp"
#include "tests/support/random_tensor.hpp"

namespace penstock::testing {

/// A full call has `full` samples, and a short call has `remainder` samples.
inline constexpr std::int64_t full = 4, remainder = 3;

inline Model network() {
  Model model("network", 3);
  const Value x = model.flatten(model.batch_norm2d("norm", model.input("x", {4, 1, 1})));
  const Value loss = model.cross_entropy(model.linear("fc", x, 3), model.labels());
  model.output("loss", loss);
  model.loss(loss);
  return without_checked_indices(std::move(model));
}

/// Returns `count` samples. A label of 3 or more makes a call fail.
inline std::vector<Tensor> samples(std::int64_t count, std::int64_t label = 1) {
  const std::vector<std::int64_t> labels(static_cast<std::size_t>(count), label);
  return {uniform({count, 4, 1, 1}, 1), Tensor({count}, labels)};
}

/// Returns options for full calls of one micro-batch, on IPUs of `bytes` bytes, or without a limit
/// if `bytes` is 0.
inline Options with_limit(std::int64_t bytes) {
  Options options{.batch_size = static_cast<int>(full)};
  options.runtime.threads = 2;
  options.topology.ipu_memory_bytes = bytes;
  return options;
}

}  // namespace penstock::testing
