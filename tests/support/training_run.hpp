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
  std::vector<float> losses;  ///< This has the loss of every micro-batch, in the order of the data.
  std::vector<StageReport> stages;
  std::vector<NamedTensor> state;  ///< This is the state of the optimizer.
};

/// Returns all samples of `dataset`: one tensor [samples, field...] per field.
std::vector<Tensor> all_samples(const Dataset& dataset);

/// Trains `model` for `updates` updates on the first rows of `samples`, which has one tensor per
/// input in the order of the inputs. Each step does `options.device_iterations` updates, with
/// OutputMode::all.
TrainingRun train(const Model& model, Options options, const Optimizer& optimizer,
                  const std::vector<Tensor>& samples, std::int64_t updates);

/// Returns the name of the first parameter that is not the same in both runs, bit for bit; failing
/// that, the name of the first such tensor of the optimizer's state. Returns "the losses" if only
/// the losses differ, and an empty text if nothing differs.
std::string first_difference(const TrainingRun& a, const TrainingRun& b);

}  // namespace penstock::testing
