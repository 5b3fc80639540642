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
  std::vector<float> losses;  ///< Has the loss of every micro-batch, in the order of the data.
  std::vector<StageReport> stages;
  std::vector<NamedTensor> state;  ///< Is the state of the optimizer.
};

/// Returns every sample of a dataset: one tensor per field, [samples, field...].
std::vector<Tensor> all_samples(const Dataset& dataset);

/// Trains `model` for `updates` updates on the leading rows of `samples` (one tensor per input, in
/// order), `options.device_iterations` updates a step, with OutputMode::all.
TrainingRun train(const Model& model, Options options, const Optimizer& optimizer,
                  const std::vector<Tensor>& samples, std::int64_t updates);

/// Returns the name of the first parameter, or else of the first tensor of the optimizer's state,
/// that is not the same in both runs, bit for bit. Returns "the losses" if only the losses differ,
/// and an empty text if nothing does.
std::string first_difference(const TrainingRun& a, const TrainingRun& b);

}  // namespace penstock::testing
