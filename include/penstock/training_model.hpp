// A TrainingModel is a Model compiled for training and running as actors. It owns its threads.
//
// A Model and everything that is made from it take one call at a time, as model.hpp says.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "penstock/call_report.hpp"
#include "penstock/model.hpp"
#include "penstock/named_tensor.hpp"
#include "penstock/objective.hpp"
#include "penstock/optimizer.hpp"
#include "penstock/options.hpp"
#include "penstock/profile.hpp"
#include "penstock/report.hpp"
#include "penstock/tensor.hpp"
#include "penstock/trace.hpp"

namespace penstock {

/// MicroBatches say how many micro-batches there are, and how many samples each of them has.
struct MicroBatches {
  std::int64_t count = 0;    ///< There are this many micro-batches in all replicas together.
  std::int64_t samples = 0;  ///< Each micro-batch has this many samples.
};

/// OutputRows say which samples of a call its outputs belong to. One micro-batch of every replica
/// makes a round.
struct OutputRows {
  /// `mode` says which micro-batches are returned; it is never `automatic`.
  OutputMode mode = OutputMode::all;
  int period = 1;  ///< `period` is the N of OutputMode::every_n.
  /// A round has this many samples. A sample counts once for each replica that gets it.
  std::int64_t round = 0;
  /// Each sample is returned this many times, once for each replica of an input group.
  int copies = 1;
  /// `micro_batches` are the micro-batches of full size that the output mode selects. A loss has a
  /// number for each of these micro-batches, and then a number for each of those in `shorter`.
  MicroBatches micro_batches = {};
  /// `shorter` are the micro-batches of the short last update or run that the output mode selects.
  MicroBatches shorter = {};
  /// Each returned micro-batch is the sum of this many micro-batches under OutputMode::sum. The
  /// number is 1 under any other mode.
  std::int64_t summed = 1;
};

/// A StepResult is what a call returns. The host may keep the tensors for as long as it likes, even
/// when the model is gone, and drop them on any thread. Dimension 0 counts the micro-batches that
/// the output mode, or an anchor's own mode, selects, in the order device iteration, accumulation
/// step, replica. A loss that is not reduced is returned as an output of its shape would be.
struct StepResult {
  /// `loss` has one number per selected micro-batch, [k], and the shape [] if k is 1. In inference,
  /// which has no loss, the tensor is empty.
  Tensor loss = {};
  /// `outputs` has the outputs that the call returns, in the order of Model::output().
  std::vector<NamedTensor> outputs = {};
  /// `anchors` has the anchors in the order of OutputOptions::anchors.
  std::vector<NamedTensor> anchors = {};
  /// `rows` says which samples the loss and the outputs belong to.
  OutputRows rows = {};
  /// `mean_loss` is the mean of the loss over all samples of a step: every micro-batch of every
  /// replica counts, those of a short last update included, whichever micro-batches the output mode
  /// returns. A micro-batch's loss counts once for each sample of the micro-batch. If the loss is
  /// one number, that number is the loss of the micro-batch: with `LossReduction::mean` the result
  /// is the mean over all samples, with `sum` it is the mean, over samples, of the sum that each
  /// sample is part of, and an `identity_loss` counts as the number that it computes. If the loss
  /// is not reduced (`LossReduction::none`), the loss of the micro-batch is the mean of the terms.
  /// The mean is computed in double in the order of the data, so that it has the same bits on every
  /// topology. It is nan in inference, which has no loss.
  double mean_loss = std::numeric_limits<double>::quiet_NaN();

  /// Returns the output called `name`. @throws Error invalid_argument if there is no such output.
  const Tensor& output(const std::string& name) const;
  /// Returns the anchor called `name`. @throws Error invalid_argument if there is no such anchor.
  const Tensor& anchor(const std::string& name) const;
};

class OutputFile;

/// A TrainingModel trains a Model. A failure on the IPUs, unless a call goes on by itself as
/// Options::recovery lets it, is reported once, by an Error with its own code (such as
/// stage_failed): by the call that was under way, or else by the next one of the calls that are
/// named below. The model then goes on from the last complete update, unless it has failed for
/// good, after a stage had begun to change its weights. Then step(), attach(), detach(),
/// set_optimizer() and everything that reads or writes the optimizer's state throw Error closed,
/// whose text repeats the failure, and so do other functions whose contracts say so.
class TrainingModel {
 public:
  /// Compiles the model and starts the threads. Training begins with the weights of `model`, and
  /// `model` sees the trained weights.
  /// @throws Error invalid_model, invalid_topology, invalid_argument or shape_mismatch;
  /// out_of_memory if the memory of an IPU does not hold its stages, or if the system has no more
  /// threads.
  TrainingModel(const Model& model, const Options& options, const Optimizer& optimizer = {});
  /// Compiles what `objective` is about, and starts the threads. Several training models of one
  /// Model, each with its own objective and optimizer, share the model's weights: each step begins
  /// with the newest weights, which are copied to the IPUs only if another training model or the
  /// host has changed them. Inputs that neither the loss nor the returned outputs depend on are not
  /// asked for. A buffer, such as a running mean, is updated by every training model that computes
  /// its layer; see Model::freeze_statistics().
  /// @throws Error as the other constructor; invalid_model if the loss is no value of `model`;
  /// shape_mismatch if it is not f32; invalid_argument for a pattern that matches nothing, unless
  /// it is "*".
  TrainingModel(const Model& model, const Options& options, const Optimizer& optimizer,
                const Objective& objective);
  /// Waits, as assignment does, until calls of the same Model on other threads have returned; their
  /// stop tokens end them sooner. A function of the host's may destroy the model inside a call of
  /// that model, such as fit(). The call then goes on to its end, and the threads end with it.
  ~TrainingModel();
  /// Takes over the contents of the other model, which may then only be destroyed or assigned to.
  TrainingModel(TrainingModel&&) noexcept;
  /// Takes over the contents of the other model, and then ends what this model had as the
  /// destructor does.
  TrainingModel& operator=(TrainingModel&&) noexcept;

  /// Returns the options that the constructor was given.
  const Options& options() const noexcept;
  /// Returns the names of the inputs that the loss and the outputs depend on, in the order of their
  /// declaration, in which step() takes them.
  const std::vector<std::string>& inputs() const noexcept;

  /// Returns what step() returns, but without the numbers: the names of outputs and anchors, with
  /// empty tensors, and the samples that they belong to. The function may be called beside other
  /// calls.
  StepResult outline() const;

  /// Trains on 1 to b·D·G·R samples, given as one tensor per input; CallSize explains these
  /// letters. Every b·G·R samples make one weight update. If replicas share their inputs, these
  /// numbers are divided by the size of an input group. Samples that are left over make one more
  /// update on the IPUs of the first replica, by a plan of its own and in equal micro-batches that
  /// are as large as possible; the model keeps the eight such plans that were used last. A mean is
  /// taken over the samples that the update has. With a short last update, mode `final` returns the
  /// outputs of that update; `every_n`, `sum` and input groups need whole updates. After a short
  /// update all replicas go on from the buffers of the first one. If a short last update has more
  /// than G micro-batches, they pass through the phases one by one even under
  /// PhasedOptions::batch_serial. With Options::static_shapes, the model takes exactly as many
  /// samples as a full step.
  ///
  /// Once `stop` is requested, the call begins no further update, waits for the updates that it has
  /// begun, and throws Error cancelled, whose text says how many updates there were. The weights,
  /// the state of the optimizer and the random numbers to come are then those after a step on the
  /// samples of these updates. A call whose updates have all begun returns as usual.
  ///
  /// If memory runs out, the call throws Error out_of_memory, whose text says how many of its
  /// updates the call has done, unless there is no memory for that text. updates() counts these
  /// updates in any case, and the weights and the state of the optimizer include them. The model
  /// goes on from there.
  ///
  /// The inputs are released on a thread of the host's, and deleted there if these were the last
  /// handles: at the end of this call, of a later call of the same TrainingModel, or of its
  /// destructor.
  /// @throws Error shape_mismatch, and invalid_data for a label or id that is not a number of a
  /// class or row, before anything has changed; afterwards stage_failed, for labels that ctc_loss()
  /// and probabilities that binary_cross_entropy() does not take, for example, whose text says how
  /// many updates the call has done, and from which the next call goes on; stalled or internal, if
  /// the call has not gone on by itself as Options::recovery lets it, after which the next call
  /// goes on in the same way. An update in which an IPU has stalled may be done later than that
  /// text says; updates() counts it. A call that comes after a failure while an IPU is still busy
  /// throws stalled, too, and may be made again.
  StepResult step(std::span<const Tensor> inputs, std::stop_token stop = {});
  /// Trains on `inputs` as step() does on a span.
  StepResult step(const std::vector<Tensor>& inputs, std::stop_token stop = {}) {
    return step(std::span(inputs), std::move(stop));
  }
  /// Trains on inputs that are given by name, in any order: `step({{"image", x}, {"label", y}})`.
  /// @throws Error invalid_argument, before anything has changed, if one of inputs() is missing or
  /// given twice, or if there is no input of a name; and as step() on a span.
  StepResult step(const std::vector<NamedTensor>& inputs, std::stop_token stop = {});
  /// Checks that step() takes `samples` samples, as far as that can be told without a plan for
  /// them. The function may be called beside other calls. @throws Error shape_mismatch as step()
  /// would.
  void check_samples(std::int64_t samples) const;

  /// Ends the engine's threads and frees the memory of its IPUs. The weights, the buffers of
  /// each replica, the state of the optimizer, the number of updates and the random numbers to come
  /// stay, so that attach(), or the next call that needs the IPUs, goes on to the same bits.
  /// Replicas whose last step had another length than the model's go on from the buffers of the
  /// first one. The counts of reports begin anew.
  /// @throws Error invalid_argument if the model is not attached; out_of_memory if there is no
  /// memory for what stays, and the model is still attached then.
  void detach();
  /// Starts the threads again without compiling. The function does nothing if the model is
  /// attached. @throws Error out_of_memory if the system has no more threads.
  void attach();
  /// Returns whether the model has its threads. The function may be called beside other calls.
  bool attached() const noexcept;

  /// Replaces the constants of the optimizer by those of `optimizer`, which has the same rule for
  /// each parameter, from the next step on. The state is kept, no weight is copied, and a detached
  /// model stays detached.
  /// @throws Error invalid_argument if this would change the rule of a parameter, the state that a
  /// rule needs (momentum, centered, ...), or an attribute that is constant in the optimizer that
  /// the constructor was given; see Optimizer::mark_as_variable(). Nothing has changed then.
  void set_optimizer(const Optimizer& optimizer);
  /// Returns a copy of the optimizer that was set last. The function may be called beside other
  /// calls.
  Optimizer optimizer() const;
  /// Returns the learning rate of the next update for the parameters in no group, with the schedule
  /// applied. The function may be called beside other calls.
  double learning_rate() const;

  /// Returns the state of the optimizer: "step", i64 [], the number of updates that the state has
  /// seen, and what the rule keeps of each trained parameter, in the parameter's shape and called,
  /// for example, "fc.weight.exp_avg". The names are PyTorch's. With Sgd::keras_variant and
  /// RmsProp::tf_variant, which keep other quantities, they are TensorFlow's.
  std::vector<NamedTensor> optimizer_state() const;
  /// Replaces the state of the optimizer by a copy of `state`, which a model of the same parameters
  /// and rule had on any topology. With the same weights, options and data, training goes on to the
  /// same bits; random numbers and learning rates go on from the step of the state. Denormals,
  /// below 2^-126, count as zero in everything that calls compute.
  /// @throws Error shape_mismatch, naming a tensor that is missing, that has another shape, or that
  /// the rule does not use; invalid_data for a step below 0 or above 2^53, for a number that is not
  /// finite, and for a negative number in a tensor that never has one (exp_avg_sq, square_avg,
  /// rms). Nothing has changed then.
  void set_optimizer_state(const std::vector<NamedTensor>& state);
  /// Writes the state of the optimizer to a file at `path` in the safetensors format, as
  /// Model::save_weights() writes the weights, whole or not at all. @throws Error io_error.
  void save_optimizer_state(const std::string& path) const;
  /// Writes the state of the optimizer to `file`, which the caller commits.
  void save_optimizer_state(OutputFile& file) const;
  /// Reads the state of the optimizer from a file, and goes on from it. @throws Error io_error;
  /// corrupt_file; unsupported; invalid_data if the state is of another rule; other errors as
  /// set_optimizer_state(), with a text that names the file.
  void load_optimizer_state(const std::string& path);

  /// Returns a buffer, such as the running mean of a norm, as `replica` has it after the last
  /// update: what the replica's own micro-batches have made of it. Model::weight() returns the
  /// buffer of replica 0, from which every replica goes on once the host has set a weight or
  /// another training model of the same Model has changed one.
  /// @throws Error invalid_argument if there is no such buffer or replica; after a failure, as
  /// Model::weight(); closed if the model has failed for good and the host has set weights since.
  Tensor buffer(const std::string& name, int replica) const;

  /// Returns the number of weight updates since construction, added to those that a restored state
  /// of the optimizer had seen. After a failure these are the updates that the weights have seen. A
  /// model that has stalled in the middle of an update may still finish that update, which then
  /// counts: the number is final once a function that reads the weights, such as Model::weight(),
  /// has returned or has thrown another error than stalled.
  std::uint64_t updates() const noexcept;
  /// Returns what the compiler has made of the model. The function may be called beside other
  /// calls.
  const CompileReport& compile_report() const noexcept;
  /// Returns the report on the last call of step() that returned. A short last update adds only the
  /// time that it took, and its recoveries, if there were whole updates before it. The function may
  /// be called beside other calls.
  CallReport last_call() const;
  /// Returns what each stage of each replica has done since the model was attached, or since a call
  /// has gone on after a failure (RecoveryOptions), without short last updates. The reports can be
  /// read after a failure, too. There are no reports while the model is detached. A short last
  /// update may have the IPUs for itself: after detach(), and if Topology::ipu_memory_bytes is set.
  /// Then there are no reports until the next full update.
  /// @throws Error stalled if an IPU is still busy; out_of_memory, after which the model goes on.
  std::vector<StageReport> stage_reports() const;
  /// Returns the events since the last call of this function, in the order of their beginning.
  /// There are no events unless Options::runtime.trace is set. @throws Error as stage_reports().
  /// After out_of_memory the next call returns the events, except those that dropped_events()
  /// counts.
  std::vector<TraceEvent> take_trace();
  /// Returns where the time and the memory of all steps since construction went, and what would
  /// make them faster. The function attaches the model if it is detached. The events that
  /// `take_trace()` has returned are not in the profile any more, but its figures include them.
  /// @throws Error invalid_argument unless Options::runtime.trace is set; otherwise as attach() and
  /// stage_reports().
  Profile profile() const;
  /// Returns how many events were dropped since construction: because more than
  /// `RuntimeOptions::trace_events` were waiting for `take_trace()`, in which case the oldest are
  /// dropped, or because there was no memory for the events when they were recorded. Within one
  /// call each stage keeps an equal share of `RuntimeOptions::trace_events`.
  std::uint64_t dropped_events() const noexcept;

 private:
  friend struct ModelAccess;  // The functions of fit.hpp use ModelAccess.
  class Impl;
  explicit TrainingModel(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;  // Calls that are under way share the Impl.
};

}  // namespace penstock
