// A TrainingRun is what a short training leaves behind, to be compared with another one.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "penstock/penstock.hpp"

namespace penstock::testing {

struct TrainingRun {
  std::map<std::string, Tensor> weights;
  std::vector<float> losses;  ///< Are those of every micro-batch, in data order.
  std::vector<StageReport> stages;
  std::vector<NamedTensor> state;  ///< Is that of the optimizer.
};

/// Returns every sample of a dataset: one tensor per field, [samples, field...].
std::vector<Tensor> all_samples(const Dataset& dataset);

/// Trains `model` for `updates` updates on the leading rows of `samples` (one tensor per input, in
/// order), `options.device_iterations` updates a step, with OutputMode::all.
TrainingRun train(const Model& model, Options options, const Optimizer& optimizer,
                  const std::vector<Tensor>& samples, std::int64_t updates);

/// Checks whether both have the same parameters and optimizer state, with the same bits, and names
/// the first that differs.
std::string first_difference(const TrainingRun& a, const TrainingRun& b);

}  // namespace penstock::testing
