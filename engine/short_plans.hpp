// ShortPlans has a model's plans for the last samples of a call, where these are too few for the
// model's own plan, on whose threads and IPUs they run. The few that were used last are kept. It is
// owned by a façade and used from its thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "engine/log/log.hpp"
#include "engine/running_model.hpp"
#include "graph/compile/ipu_memory_refusal.hpp"
#include "penstock/error.hpp"
#include "penstock/trace.hpp"

namespace penstock {

/// Describes the last samples of a call and says what they are too few for, as an error's text
/// does.
struct UnfilledRows {
  std::string call;       ///< This names the call, such as "step".
  std::int64_t rows = 0;  ///< The call has so many samples.
  std::int64_t rest = 0;  ///< So many of them, the last ones, fill nothing.
  std::string unfilled;   ///< This is what they do not fill, such as "update (one takes 8)".
};

/// Returns the size of the largest equal micro-batches of at most `most` samples that fill `rows`.
std::int64_t equal_micro_batch(std::int64_t rows, std::int64_t most);

/// Returns `options` with micro-batches of `batch` samples on one replica, where `batch` is less
/// than options.batch_size. The activations that `options` keeps in the host store stay there,
/// although each becomes smaller: otherwise a plan for fewer samples might need more of an IPU's
/// memory.
Options for_fewer_samples(Options options, std::int64_t batch);

/// Returns variants of `options` that compute the same bits with less memory of the IPUs, the last
/// with the least: the first keeps all that it may in the host store, the second also has no more
/// than one micro-batch in flight and, in `training`, recomputes.
std::vector<Options> with_less_memory(const Options& options, bool training);

/// Tells the log that a plan for fewer samples had to be made with the options `less`, and in what
/// it differs from the plan of `refused`, which does not fit.
void tell_of_less_memory(const Log& log, const Options& refused, const Options& less);

/// Returns `make(options)`; where that does not fit into the memory of the IPUs, what `make` makes
/// of the first of with_less_memory(options, training) that does, which `log` is told of. A lack of
/// the host's memory is no reason to make another plan.
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

/// @throws Error cancelled, for whoever catches it to say of what, if a stop was asked for.
void expect_not_stopped(const std::stop_token& stop);

class ShortPlans {
 public:
  explicit ShortPlans(RunningModel& own) : own_(own) {}

  /// Returns the model's own plan.
  /// @throws Error closed each time once that plan or a short one has failed.
  RunningModel& open() const;

  /// Forgets the short ones. @throws Error as open(), and as RunningModel::detach() where none is
  /// attached.
  void detach();

  /// Returns the kept plan that `fits`; failing that, the one that `make` returns, which is kept.
  /// @throws Error as `make` and RunningModel::expect_same_rows(), with a text that opens with what
  /// `of` describes.
  RunningModel& take(const UnfilledRows& of, const auto& fits, const auto& make) try {
    RunningModel& plan = find_or_make(fits, make);
    if (of.rest < of.rows) own_.expect_same_rows(plan);
    return plan;
  } catch (const Error& error) {
    throw Error(error.code(), to_text(of) + ": " + error.what());
  }

  /// Returns the events of the model's own plan and of all short ones that there have been.
  std::vector<TraceEvent> take_trace();

 private:
  RunningModel& find_or_make(const auto& fits, const auto& make) {
    const auto found = std::ranges::find_if(kept_, fits);
    if (found != kept_.end()) {
      std::rotate(kept_.begin(), found, found + 1);
    } else {
      std::unique_ptr<RunningModel> made = make();
      if (kept_.size() == most) forget_oldest();
      kept_.insert(kept_.begin(), std::move(made));
    }
    return *kept_.front();
  }

  static std::string to_text(const UnfilledRows& rows);
  void forget_oldest();

  static constexpr std::size_t most = 4;
  RunningModel& own_;
  std::vector<std::unique_ptr<RunningModel>> kept_;  // the one used last first
};

}  // namespace penstock
