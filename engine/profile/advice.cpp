#include "engine/profile/advice.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "engine/profile/advice_on_waits.hpp"
#include "engine/profile/prediction.hpp"
#include "graph/plan/schedules/schedules.hpp"
#include "graph/values/number_range.hpp"

namespace penstock {
namespace {

/// A change is proposed only if its speedup is at least `least_speedup`.
constexpr double least_speedup = 1.05;

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
    for (ProfileAdvice& advice : advice_on_waits(profile_)) found_.push_back(std::move(advice));
    for (ProfileAdvice& advice : advice_on_memory(profile_)) found_.push_back(std::move(advice));
    std::ranges::stable_sort(found_, std::greater<>{}, &ProfileAdvice::speedup);
    return std::move(found_);
  }

 private:
  /// Returns the seconds that the IPU with most work in updates spends on a weight update.
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
  /// Returns how many times as fast the run would be with windows of `micro_batches` micro-batches
  /// that take `window` seconds.
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
            " a micro-batch, " + percent_text(cost(*longest) / work_) +
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

  /// Compares the schedule with those in which stages work at the same time.
  void change_schedule() {
    if (now_.stages < 2 || !plan_.phases.none()) return;
    for (const graph::Schedule* other : graph::all_schedules()) {
      if (other == plan_.schedule || other->one_at_a_time) continue;
      const double gain = speedup(window_seconds(with_schedule(now_, *other)), now_.micro_batches);
      if (gain < least_speedup) continue;
      add("schedule", text_on(*other, gain), gain);
      if (plan_.schedule->one_at_a_time) return;  // One schedule that changes this is enough.
    }
  }

  std::string text_on(const graph::Schedule& other, double gain) const {
    const std::string name = '"' + std::string(other.name) + '"';
    // The strategy may be the reason why the pipeline holds one micro-batch at a time.
    if (plan_.schedule->one_at_a_time)
      return "One IPU of each replica works at a time. A pipeline with the schedule " + name +
             " (options.topology.strategy and options.topology.schedule) would make the run " +
             times(gain) + " as fast.";
    return "The schedule " + name + " (options.topology.schedule) would make the run " +
           times(gain) + " as fast as \"" + std::string(plan_.schedule->name) + "\".";
  }

  /// Compares the run with one in which a single stage has the whole model, in as many replicas as
  /// there are processors. Each replica then does the updates of all stages.
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

  const Profile& profile_;
  const graph::Plan& plan_;
  const graph::Simulation now_;
  double work_ = 0;    // `work_` is the cost of a micro-batch in all stages together.
  double window_ = 0;  // `window_` is the simulated time of a window.
  double update_ = 0;  // `update_` is the time of the weight update that ends a window.
  std::vector<ProfileAdvice> found_;
};

}  // namespace

std::vector<ProfileAdvice> advice_on(const Profile& profile, const graph::Plan& plan) {
  return Adviser(profile, plan).advice();
}

}  // namespace penstock
