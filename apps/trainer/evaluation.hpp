// The test: a network's accuracy over all of a loader's samples.
#pragma once

#include <functional>
#include <string>

#include "penstock/data_loader.hpp"
#include "penstock/inference_model.hpp"

namespace trainer {

struct Evaluation {
  double accuracy = 0;            ///< fraction
  double samples_per_second = 0;  ///< from the first call to the last one's return
};

/// Infers from a batch's images, [N,...] -> the named outputs, [N,...].
using Inference = std::function<penstock::StepResult(const penstock::Tensor& images)>;

/// Runs one epoch of the loader's batches {images, labels}; the accuracy is that of output
/// `scores`.
Evaluation evaluate(penstock::DataLoader& loader, const std::string& scores, const Inference& infer,
                    const std::function<void()>& on_batch);

}  // namespace trainer
