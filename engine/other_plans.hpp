// OtherPlans has the plans of a model that run what its plan for full calls cannot: the last
// samples of a call, if they are too few for that plan, and calls whose dynamic axes have another
// length. These plans run on the threads and IPUs of the plan for full calls. Those that were used
// last are kept. A ModelBody owns OtherPlans and uses it inside its calls.
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/log/log.hpp"
#include "engine/running_model.hpp"
#include "graph/compile/ipu_memory_refusal.hpp"
#include "penstock/error.hpp"
#include "penstock/trace.hpp"

namespace penstock {

/// Returns `options` with micro-batches of `batch` samples on one replica, where `batch` is less
/// than options.batch_size. The activations that `options` keeps in the host store stay there,
/// although each becomes smaller: otherwise a plan for fewer samples might need more of an IPU's
/// memory.
Options for_fewer_samples(Options options, std::int64_t batch);

/// Returns the options of a plan for `remainder`, which are the last micro-batches of a call of a
/// model with `options`. The plan runs them as one update in training, and as device iterations in
/// inference.
Options for_remainder(const Options& options, const MicroBatches& remainder, bool training);

/// Returns variants of `options` that compute the same bits with less memory of the IPUs, the last
/// with the least: the first keeps all that it may in the host store, the second also has no more
/// than one micro-batch in flight and, in `training`, recomputes.
std::vector<Options> with_less_memory(const Options& options, bool training);

/// Tells the log that a plan for fewer samples had to be made with the options `less`, and in what
/// it differs from the plan of `refused`, which does not fit.
void tell_of_less_memory(const Log& log, const Options& refused, const Options& less);

/// Returns `make(options)`. If that does not fit into the memory of the IPUs, it returns what
/// `make` returns for the first of with_less_memory(options, training) that does fit, and tells
/// `log` so. A lack of the host's memory is no reason to make another plan.
/// @throws Error as `make` of `options` if none fits, and as `make` if it fails in another way.
auto make_fit(const Options& options, bool training, const Log& log, const auto& make) {
  try {
    return make(options);
  } catch (const graph::IpuMemoryRefusal&) {
    for (const Options& less : with_less_memory(options, training)) try {
        auto made = make(less);
        tell_of_less_memory(log, options, less);
        return made;
      } catch (const graph::IpuMemoryRefusal&) {
      }
    throw;
  }
}

/// Checks that no stop was requested through `stop`. @throws Error cancelled if one was; the caller
/// that catches the error says what was cancelled.
void expect_not_stopped(const std::stop_token& stop);

class OtherPlans {
 public:
  /// Makes plans for other calls than the full ones of the model `full`, which has `options`. Both
  /// outlive this object.
  OtherPlans(RunningModel& full, const Options& options) : full_(full), options_(options) {}

  /// Returns the model for full calls. The model and these plans can be used, even if one of them
  /// has failed before.
  /// @throws Error as RunningModel::settle_failure() of that model or one of these plans.
  RunningModel& open();

  /// Forgets these plans, and detaches the model for full calls. @throws Error as open(), and
  /// as RunningModel::detach() if no plan is attached.
  void detach();

  /// Returns the plan for as many samples as a full call has, with dynamic axes of the length
  /// `length`: the plan for full calls, one that is kept, or else a new one, which is kept from
  /// then on. @throws Error as the constructor of RunningModel.
  RunningModel& take_whole(std::int64_t length);
  /// Returns the plan for `remainder`, the last micro-batches of a call of `samples` samples with
  /// dynamic axes of the length `length`. `before` is the plan of the micro-batches before them, or
  /// null if there are none. The plan is one that is kept or else a new one, which is kept from
  /// then on.
  /// @throws Error as the constructor of RunningModel and RunningModel::expect_same_rows(). The
  /// text begins with the samples and the length of the call that the plan is for.
  RunningModel& take(std::int64_t samples, const MicroBatches& remainder, std::int64_t length,
                     const RunningModel* before);

  /// Returns the events of full calls and of all these plans, even of those that were forgotten,
  /// since the last call of this function.
  std::vector<TraceEvent> take_trace();

 private:
  /// A Kind says what distinguishes the plans.
  struct Kind {
    std::int64_t length, batch, replicas;
    /// `accumulated` is the number of micro-batches of an update. It is 0 in inference, where a
    /// plan runs any number of micro-batches.
    std::int64_t accumulated;
    bool operator==(const Kind&) const = default;
  };
  Kind kind_of(const RunningModel& plan) const;
  Kind kind_of(const MicroBatches& remainder, std::int64_t length) const;
  RunningModel* find(const Kind& kind);
  /// Makes a plan for the length `length`, and keeps it.
  RunningModel& make(const Options& options, std::int64_t length);
  std::string to_text(std::int64_t samples, const MicroBatches& remainder) const;
  /// Returns a text that says which length a call has, or an empty one for the declared length.
  std::string text_of_length(std::int64_t length) const;
  void forget_oldest();

  static constexpr std::size_t most = 8;
  RunningModel& full_;
  const Options& options_;
  // `kept_` has the plans that are kept. The plan that was used last comes first.
  std::vector<std::unique_ptr<RunningModel>> kept_;
};

}  // namespace penstock
