// A TrainingModel is a Model compiled for training and running as actors. It owns its threads.
//
// A Model and all that is made of it take one call at a time, as model.hpp says.
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
#include "penstock/optimizer.hpp"
#include "penstock/options.hpp"
#include "penstock/report.hpp"
#include "penstock/tensor.hpp"
#include "penstock/trace.hpp"

namespace penstock {

/// A NamedTensor is what a call returns under a name.
struct NamedTensor {
  std::string name;  ///< This is the name of the output, the anchor or the state.
  Tensor tensor;     ///< This is its value.
};

/// Says how many micro-batches there are, and of which size.
struct MicroBatches {
  std::int64_t count = 0;    ///< of all replicas
  std::int64_t samples = 0;  ///< of each
};

/// Says which samples of a call its outputs are of. One micro-batch of every replica makes a round
/// of `round` samples.
struct OutputRows {
  OutputMode mode = OutputMode::all;  ///< not `automatic`
  int period = 1;                     ///< N of `every_n`
  std::int64_t round = 0;             ///< So many samples make a round.
  int copies = 1;                     ///< of each sample: as many as an input group has replicas
  /// The output mode selects these micro-batches, of which a loss has a number each: some of one
  /// size, and then `shorter` ones.
  MicroBatches micro_batches = {};
  MicroBatches shorter = {};  ///< These are the micro-batches of the short last update or run.
  std::int64_t summed = 1;    ///< micro-batches that each of them stands for, under OutputMode::sum
};

/// A call returns this, in the order of Model::output(). Its tensors may be kept for as long as the
/// host likes, even when the model is gone, and dropped on any thread. Dimension 0 counts the
/// micro-batches that the output mode (an anchor's its own) selects, in the order device iteration,
/// accumulation step, replica. A loss that is not reduced is returned as an output of its shape
/// would be.
struct StepResult {
  Tensor loss =
      {};  ///< one number per selected micro-batch: [k], or [] if k is 1; empty in inference
  std::vector<NamedTensor> outputs = {};  ///< These are in the order of Model::output().
  std::vector<NamedTensor> anchors = {};  ///< in the order of OutputOptions::anchors
  OutputRows rows = {};                   ///< of the loss and the outputs
  /// The mean of the loss over all samples of a step: of every micro-batch of every replica, those
  /// of a short last update included, whatever the output mode returns. A micro-batch's loss counts
  /// once for each of its samples. If the loss is one number, that number is the micro-batch's
  /// loss: with `LossReduction::mean` the result is the mean over all samples, with `sum` it is the
  /// mean, over samples, of the sum that each sample is part of, and an `identity_loss` counts as
  /// the number that it makes. If the loss is not reduced (`LossReduction::none`), the
  /// micro-batch's loss is the mean of its terms. The mean is computed in double in the order of
  /// the data, so that it has the same bits on every topology. It is nan in inference, which has no
  /// loss.
  double mean_loss = std::numeric_limits<double>::quiet_NaN();

  /// @throws Error invalid_argument if there is no output of that name.
  const Tensor& output(const std::string& name) const;
  /// @throws Error invalid_argument if there is no anchor of that name.
  const Tensor& anchor(const std::string& name) const;
};

class OutputFile;

/// A training model that has failed for good says so once, under the failure's own code
/// (stage_failed, stalled, ...): in the call that was under way, or else in the next call that is
/// refused for it. Every later call that is refused throws Error closed, whose text repeats the
/// failure. Refused are step(), attach(), detach(), set_optimizer() and whatever reads or writes
/// the optimizer's state; of other functions, those whose contracts say so.
class TrainingModel {
 public:
  /// Compiles and starts; weights are taken from `model`, and `model` sees the trained ones.
  /// @throws Error invalid_model, invalid_topology, invalid_argument, shape_mismatch;
  /// out_of_memory if an IPU's memory does not hold its stages, or the system has no more threads.
  TrainingModel(const Model& model, const Options& options, const Optimizer& optimizer = {});
  /// Waits, as assignment does, until another thread's call of the same Model has returned; its
  /// stop token ends it sooner. A function of the host's may destroy the model inside a call of
  /// that model, such as fit(): the call goes on to its end, and what the model runs ends then.
  ~TrainingModel();
  /// Takes over the other model, of which destruction and assignment alone are left.
  TrainingModel(TrainingModel&&) noexcept;
  /// Destroys this model as the destructor does, and takes over the other one.
  TrainingModel& operator=(TrainingModel&&) noexcept;

  /// Returns the options as given to the constructor.
  const Options& options() const noexcept;
  /// Returns the names of the inputs that the loss and the outputs depend on, in the order `step`
  /// takes them: that of their declaration.
  const std::vector<std::string>& inputs() const noexcept;

  /// Returns what calls return but for the numbers: the names of outputs and anchors, with empty
  /// tensors, and which samples they are of. May be called beside other calls.
  StepResult outline() const;

  /// Trains on one tensor per input, of 1 to b·D·G·R samples: every b·G·R of them make a weight
  /// update. What is left makes one more, by a plan of its own, on the first replica's IPUs and in
  /// equal micro-batches, as large as they can be; the four such plans that were used last are
  /// kept. A mean is of the samples that are there. Of outputs, mode `final` returns what is of the
  /// last update then; `every_n` and `sum` need whole updates, and so do input groups. After it,
  /// all replicas go on from the first one's buffers. A batch-serial turn of more micro-batches
  /// than G is none: they pass one by one. With Options::static_shapes only b·D·G·R samples are
  /// taken.
  /// @throws Error shape_mismatch before anything has changed; stage_failed (a label out of range,
  /// too) or stalled afterwards: then the model has failed for good, and keeps the weights of the
  /// last update.
  ///
  /// Once `stop` is asked to stop, the call begins no further update; those that it has begun end,
  /// and it throws Error cancelled, whose text says how many those were. Then the weights, the
  /// optimizer's state and the random numbers to come are those after a step on as many updates'
  /// samples. A call whose updates have all begun returns as ever.
  ///
  /// If memory runs out, the call throws Error out_of_memory, and its text says how many of how
  /// many updates the call has done, unless there is no memory for that text. updates() counts
  /// these in any case, and the weights and the optimizer's state have seen them all. If memory ran
  /// out on the calling thread, the model goes on from there; if it ran out on a thread of the
  /// engine, the model has failed, and later calls throw Error closed.
  ///
  /// Its inputs are released, and where they were the last handles deleted, on a thread of the
  /// host's: at the end of this call, of a later one of the same TrainingModel, or of its
  /// destructor.
  StepResult step(std::span<const Tensor> inputs, std::stop_token stop = {});
  /// Trains on the inputs in a vector.
  StepResult step(const std::vector<Tensor>& inputs, std::stop_token stop = {}) {
    return step(std::span(inputs), std::move(stop));
  }
  /// Expects that step() takes so many samples, as far as can be told without a plan for them.
  /// May be called beside other calls. @throws Error shape_mismatch as step() would.
  void check_samples(std::int64_t samples) const;

  /// Ends the engine's threads and frees the memory of its IPUs. Weights, the optimizer's state,
  /// the number of updates and the random numbers to come stay, so that the next call that needs
  /// the IPUs, or attach(), goes on to the same bits; counts of reports begin anew.
  /// @throws Error invalid_argument if the model is not attached; out_of_memory if there is none to
  /// keep what stays in: then the model is still attached.
  void detach();
  /// Starts the threads again, without compiling; nothing if the model is attached.
  /// @throws Error out_of_memory if the system has no more threads.
  void attach();
  /// Returns whether the model has its threads. May be called beside other calls.
  bool attached() const noexcept;

  /// Sets other numbers for the same rules from the next step on; state is kept, no weight is
  /// copied. A detached model stays detached, as it does by set_optimizer_state().
  /// @throws Error invalid_argument, and nothing has changed, if a parameter's rule, the state that
  /// it needs (momentum, centered, ...), or an attribute would change that is constant in the
  /// optimizer given to the constructor: see Optimizer::mark_as_variable.
  void set_optimizer(const Optimizer& optimizer);
  /// Returns a copy of the one that was set last; beside other calls, too.
  Optimizer optimizer() const;
  /// Returns the next update's, of the parameters in no group, scheduled; beside other calls, too.
  double learning_rate() const;

  /// Returns what the optimizer keeps: "step", i64 [], the updates that it has seen, and for each
  /// trained parameter what its rule keeps, of its shape, as "fc.weight.exp_avg". The names are
  /// PyTorch's; Sgd::keras_variant and RmsProp::tf_variant keep other quantities under
  /// TensorFlow's.
  std::vector<NamedTensor> optimizer_state() const;
  /// Goes on from such a state, which a model of the same parameters and rule had on any topology:
  /// with the same weights, options and data, to the same bits (random numbers and learning rates
  /// go on from its step too). Denormals, below 2^-126, count as zero in all that calls compute.
  /// @throws Error shape_mismatch naming a tensor that is missing, misshapen or of no use, as those
  /// of another rule or variant are; invalid_data for a step below 0 or above 2^53, a number that
  /// is not finite, or a negative mean of squares (exp_avg_sq, square_avg, rms); then nothing has
  /// changed.
  void set_optimizer_state(const std::vector<NamedTensor>& state);
  /// Write or read it as a file in the safetensors format, beside Model::save_weights, whole or not
  /// at all. @throws Error io_error; and corrupt_file, unsupported, or invalid_data if it is of
  /// another rule, and as set_optimizer_state, naming the file.
  void save_optimizer_state(const std::string& path) const;
  void save_optimizer_state(OutputFile& file) const;  ///< which the caller commits
  /// Reads a file that save_optimizer_state() has written, and goes on from it.
  void load_optimizer_state(const std::string& path);

  /// Returns a buffer, such as a norm's running mean, as one replica has it: what its own
  /// micro-batches have made of it, as of the last update. Model::weight gives replica 0's, which
  /// is also what every replica goes on from once the host has set a weight.
  /// @throws Error invalid_argument if there is no such buffer or replica. After a failure, replica
  /// 0's buffers are read as Model::weight is, and those of other replicas are refused.
  Tensor buffer(const std::string& name, int replica) const;

  /// Returns the weight updates since construction, on top of those that a restored optimizer state
  /// had seen; after a failure, those that the weights have seen. A model that has stalled in the
  /// middle of an update may still end that update, which counts then: the number is final once a
  /// function that reads the weights, such as Model::weight, has returned or has thrown another
  /// error than stalled.
  std::uint64_t updates() const noexcept;
  /// Returns what the compiler has made of the model. May be called beside other calls.
  const CompileReport& compile_report() const noexcept;
  /// Reports on the last call of step() that returned, beside other calls, too. A short last update
  /// adds only the time that it took, if there were whole ones before it.
  CallReport last_call() const;
  /// Returns what each stage of each replica has done since the model was attached, short last
  /// updates apart, after a failure too; none while it is detached. A short last update may have
  /// the IPUs for itself, after detach() and under Topology::ipu_memory_bytes: then there are none
  /// until the next full one.
  /// @throws Error stalled if an IPU is still busy then; out_of_memory, after which the model goes
  /// on.
  std::vector<StageReport> stage_reports() const;
  /// Returns the events since the last call, in the order of their beginning; none unless
  /// Options::runtime.trace is set. @throws Error as stage_reports(). After out_of_memory the next
  /// call returns the events, but for those that dropped_events() counts.
  std::vector<TraceEvent> take_trace();
  /// Returns how many events were dropped since construction, because more than
  /// `RuntimeOptions::trace_events` were waiting for `take_trace()`, of which the oldest ones are
  /// dropped, or because there was no memory for them when they were recorded.
  /// Within one call each stage keeps an equal share of that number.
  std::uint64_t dropped_events() const noexcept;

 private:
  friend struct ModelAccess;  // for the loops around a model
  class Impl;
  explicit TrainingModel(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;  // shared by the calls that are under way
};

}  // namespace penstock
