#include "engine/profile/advice.hpp"

#include <algorithm>
#include <string>

#include "engine/profile/prediction.hpp"
#include "graph/plan/schedules/schedules.hpp"
#include "graph/values/number_range.hpp"

namespace penstock {
namespace {

/// A gain that is smaller than this is not worth a change.
constexpr double least_speedup = 1.05;
/// A wait for one reason that takes a smaller share of the time than this is not worth a word.
constexpr double least_share = 0.1;

std::string percent(double share) {
  return decimal_text(100 * share, 0) + " %";
}

std::string milliseconds(double seconds) {
  return decimal_text(seconds * 1e3, seconds < 1e-3 ? 4 : 2) + " ms";
}

std::string times(double factor) {
  return decimal_text(factor, factor < 1.2 ? 2 : 1) + " times";
}

double cost(const graph::StageCost& stage) {
  return stage.forward + stage.backward;
}

class Adviser {
 public:
  Adviser(const Profile& profile, const graph::Plan& plan)
      : profile_(profile), plan_(plan), now_(measured_pipeline(plan, profile)) {
    for (const graph::StageCost& stage : now_.costs) work_ += cost(stage);
    window_ = work_ > 0 ? window_seconds(now_) : 0;
    if (profile.training && profile.micro_batches > 0) update_ = update_seconds();
  }

  std::vector<ProfileAdvice> advice() {
    if (window_ > 0) {
      balance_stages();
      lengthen_windows();
      change_schedule();
      replicate();
    }
    explain_waits();
    mind_the_host();
    save_memory();
    std::ranges::stable_sort(found_, std::greater<>{}, &ProfileAdvice::speedup);
    return std::move(found_);
  }

 private:
  /// Returns the time of a weight update: what the busiest IPU spends on it after each window.
  double update_seconds() const {
    double most = 0;
    for (const IpuProfile& ipu : profile_.ipus)
      most = std::max(most, ipu.seconds.of(Activity::update) + ipu.seconds.of(Activity::exchange));
    return most / windows();
  }

  /// Returns the time that all stages of a replica together spend on a weight update.
  double update_of_all_stages() const {
    double seconds = 0;
    for (const StageProfile& stage : profile_.stages) seconds += stage.update.seconds;
    return profile_.training ? seconds / profile_.replicas / windows() : 0;
  }
  double windows() const {
    return static_cast<double>(profile_.micro_batches) / profile_.replicas /
           profile_.gradient_accumulation;
  }

  double per_micro_batch(double window, int micro_batches) const {
    return (window + update_) / micro_batches;
  }
  /// Returns how many times as fast the run would be with windows of `micro_batches` that take
  /// `window` seconds.
  double speedup(double window, int micro_batches) const {
    return per_micro_batch(window_, now_.micro_batches) / per_micro_batch(window, micro_batches);
  }
  void add(const char* topic, std::string text, double speedup = 0) {
    found_.push_back({topic, std::move(text), speedup});
  }

  void balance_stages() {
    if (now_.stages < 2) return;
    graph::Simulation balanced = now_;
    graph::StageCost mean{.forward = 0, .backward = 0};
    for (const graph::StageCost& stage : now_.costs) {
      mean.forward += stage.forward / now_.stages;
      mean.backward += stage.backward / now_.stages;
    }
    balanced.costs.assign(now_.costs.size(), mean);
    const double gain = speedup(window_seconds(balanced), now_.micro_batches);
    if (gain < least_speedup) return;
    const auto longest = std::ranges::max_element(now_.costs, {}, cost);
    const auto stage = static_cast<std::size_t>(longest - now_.costs.begin());
    add("split",
        "Stage " + std::to_string(stage) + blocks_of(stage) +
            " takes longest: " + milliseconds(cost(*longest)) + " of " + milliseconds(work_) +
            " a micro-batch, " + percent(cost(*longest) / work_) +
            ". A cut into stages of equal length would make the "
            "run up to " +
            times(gain) + " as fast; options.topology.automatic_stages looks for one.",
        gain);
  }

  std::string blocks_of(std::size_t stage) const {
    std::string names;
    for (const std::string& block : profile_.stages[stage].blocks)
      names += (names.empty() ? "" : ", ") + block;
    return names.empty() ? "" : " (" + names + ")";
  }

  void lengthen_windows() {
    for (const int factor : {2, 4}) {
      graph::Simulation longer = now_;
      longer.micro_batches = now_.micro_batches * factor;
      const double gain = speedup(window_seconds(longer), longer.micro_batches);
      if (gain < least_speedup) continue;
      const std::string number = std::to_string(longer.micro_batches);
      add("accumulation",
          profile_.training
              ? "Each window of " + std::to_string(now_.micro_batches) +
                    " micro-batches fills and empties the pipeline once and ends with a weight "
                    "update. Windows of " +
                    number +
                    " (options.training.gradient_accumulation) "
                    "would make the run " +
                    times(gain) +
                    " as fast, but more samples then make an "
                    "update."
              : "Each call of " + std::to_string(now_.micro_batches) +
                    " micro-batches fills and empties the pipeline once. Calls of " + number +
                    " (options.device_iterations) would make the run " + times(gain) + " as fast.",
          gain);
      return;
    }
  }

  void change_schedule() {
    // With one micro-batch at a time, the strategy may say so, which no schedule changes.
    if (now_.stages < 2 || !plan_.phases.none() || plan_.schedule->one_at_a_time) return;
    for (const graph::Schedule* other : graph::all_schedules()) {
      if (other == plan_.schedule || other->one_at_a_time) continue;
      graph::Simulation changed{.schedule = *other,
                                .stages = now_.stages,
                                .micro_batches = now_.micro_batches,
                                .training = now_.training,
                                .costs = now_.costs,
                                .ipus = now_.ipus,
                                .processors = now_.processors};
      const double gain = speedup(window_seconds(changed), now_.micro_batches);
      if (gain < least_speedup) continue;
      add("schedule",
          "The schedule \"" + std::string(other->name) +
              "\" (options.topology.schedule) would make "
              "the run " +
              times(gain) + " as fast as \"" + std::string(plan_.schedule->name) + "\".",
          gain);
    }
  }

  /// Compares with a stage that has the whole model, in as many replicas as the IPUs have
  /// processors. Each replica then does the updates of all stages.
  void replicate() {
    const int replicas = profile_.processors;
    if (replicas < 2 || (now_.stages == 1 && profile_.replicas >= replicas)) return;
    const double rate_now = profile_.replicas / per_micro_batch(window_, now_.micro_batches);
    const double rate = replicas / (work_ + update_of_all_stages() / now_.micro_batches);
    const double gain = rate / rate_now;
    if (gain < least_speedup) return;
    add("replicas",
        std::to_string(replicas) + " replicas of a single stage would make the run up to " +
            times(gain) + " as fast, if the whole model fits on one IPU" +
            (profile_.training ? "; the samples of an update stay as many as now where "
                                 "options.training.gradient_accumulation is divided by as much."
                               : "."),
        gain);
  }

  /// Returns the share of all IPUs' time that one reason for waiting took.
  double share_of(WaitReason reason) const {
    double waited = 0, total = 0;
    for (const IpuProfile& ipu : profile_.ipus) {
      waited += ipu.seconds.of(reason);
      total += ipu.seconds.total();
    }
    return total > 0 ? waited / total : 0;
  }

  void explain_waits() {
    const double dispatch = share_of(WaitReason::dispatch);
    const auto ipus = profile_.ipus.size();
    if (dispatch > least_share)
      add("processors", "Work was ready " + percent(dispatch) +
                            " of the time and waited for a processor or for "
                            "its message: " +
                            std::to_string(ipus) + (ipus == 1 ? " IPU uses " : " IPUs share ") +
                            std::to_string(profile_.processors) +
                            ". Fewer IPUs, or larger micro-batches "
                            "(options.batch_size), wait less.");
    const double store = share_of(WaitReason::host_store);
    if (store > least_share)
      add("offload", "IPUs waited for the host store " + percent(store) +
                         " of the time. What is "
                         "kept there costs this much; options.training.offload says what that is.");
    const double outputs = share_of(WaitReason::outputs);
    if (outputs > least_share)
      add("outputs", "Stages waited " + percent(outputs) +
                         " of the time until outputs had been "
                         "collected. A call that returns less (options.output.mode) waits less.");
  }

  void mind_the_host() {
    const double outside = profile_.elapsed_seconds - profile_.call_seconds;
    const double share = profile_.elapsed_seconds > 0 ? outside / profile_.elapsed_seconds : 0;
    if (share < least_share) return;
    add("host",
        "The program spent " + percent(share) +
            " of the time between calls, where the IPUs have "
            "nothing to do. If it loads data there, more workers of the DataLoader help, and "
            "otherwise longer calls (options.device_iterations) do.",
        1 / (1 - share));
  }

  void save_memory() {
    for (const IpuProfile& ipu : profile_.ipus) {
      const IpuMemory& memory = ipu.memory;
      const double used = static_cast<double>(memory.peak_bytes);
      if (memory.budget_bytes == 0 || used < 0.9 * static_cast<double>(memory.budget_bytes))
        continue;
      const bool stash = memory.of(MemoryClass::stash) * 2 > memory.peak_bytes;
      add("memory",
          "IPU " + std::to_string(ipu.ipu) + " uses " +
              percent(used / static_cast<double>(memory.budget_bytes)) + " of its memory. " +
              (stash ? "Most of that is the stash, which options.training.recompute makes smaller."
                     : "options.training.offload keeps weights, and what the optimizer needs, in "
                       "the host store."));
    }
  }

  const Profile& profile_;
  const graph::Plan& plan_;
  const graph::Simulation now_;
  double work_ = 0;    // Is the cost of a micro-batch in all stages.
  double window_ = 0;  // Is the simulated time of a window.
  double update_ = 0;  // Is the time of the weight update that ends a window.
  std::vector<ProfileAdvice> found_;
};

}  // namespace

std::vector<ProfileAdvice> advice_on(const Profile& profile, const graph::Plan& plan) {
  return Adviser(profile, plan).advice();
}

}  // namespace penstock
