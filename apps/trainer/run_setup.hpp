// These functions make the parts of a run, and refuse options that do not fit the data. What they
// refuse names the options of the command line.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "apps/trainer/onnx_network.hpp"
#include "apps/trainer/options/options.hpp"
#include "apps/trainer/output/progress.hpp"
#include "apps/trainer/output/run_files.hpp"
#include "apps/trainer/task.hpp"
#include "penstock/penstock.hpp"

namespace trainer {

/// Calls `action`, which does what `option` asks for. An error gets the option's name in front of
/// its text.
void of_option(const std::string& option, const std::function<void()>& action);

/// Checks that every weight is finite, because otherwise no image has a meaningful score. Constants
/// such as masks may be infinite. The refusal begins with `expectation` and ends with `advice`.
void check_finite(const Task& task, const std::string& expectation, const std::string& advice = "");

/// Checks that an ONNX file has room for the weights of a model with these parameters, before it is
/// trained. The rest of the file has far fewer bytes than are kept for it.
/// @throws penstock::Error unsupported.
void check_onnx_size(const std::vector<penstock::ParameterInfo>& parameters);

/// Makes the task of the run, whose model is the `imported` network if there is one, and has the
/// weights of --init-weights, and the blocks of --begin-block or the stages of --split-after, where
/// these options are there. A terminal shows how far the reading of the data is.
Task prepared_task(const TrainerOptions& options, const std::optional<OnnxNetwork>& imported,
                   const ProgressStream& stream);

/// Returns `options`. @throws penstock::Error if they are not valid, or if one step needs more
/// samples than the task has for training.
penstock::Options checked(const penstock::Options& options, const Task& task);

/// Makes the model for training. A bar shows how far compiling is.
penstock::TrainingModel make_training(const PipelineOptions& options, const penstock::Model& model,
                                      const penstock::Options& engine,
                                      const penstock::Optimizer& optimizer,
                                      const ProgressStream& stream);
/// Makes the model for inference. A bar shows how far compiling is.
penstock::InferenceModel make_inference(const PipelineOptions& options,
                                        const penstock::Model& model,
                                        const penstock::Options& engine,
                                        const ProgressStream& stream);

/// Returns the number of weight updates of the whole run.
std::int64_t run_updates(const TrainingOptions& training, const penstock::DataLoader& loader,
                         const penstock::Options& engine);

/// Returns the optimizer that `options` describe, with its learning rate schedule. A cosine
/// schedule without a length of its own ends after `updates` updates. The weights of a language
/// model decay only if they are matrices.
penstock::Optimizer scheduled_optimizer(const TrainerOptions& options, const Task& task,
                                        std::int64_t updates);

/// Returns the files that the run reads, which it must not overwrite.
std::vector<RunFile> input_files(const TrainerOptions& options, const Task& task);

}  // namespace trainer
