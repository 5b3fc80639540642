#include "penstock/learning_rate_schedule.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "graph/values/hosts_thread.hpp"
#include "graph/values/number_range.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

using Kind = LearningRateSchedule::Kind;
using Phase = LearningRateSchedule::Phase;

/// Returns the factor of a phase's update, counted from its first.
double factor_at(const Phase& phase, std::int64_t update) {
  const auto done = static_cast<double>(update);
  const double part = std::min(1.0, done / static_cast<double>(phase.updates));
  switch (phase.kind) {
    case Kind::constant:
      return phase.factor;
    case Kind::step:
      return std::pow(phase.factor, static_cast<double>(update / phase.updates));
    case Kind::exponential:
      return std::pow(phase.factor, done);
    case Kind::cosine:
      return phase.factor + (1 - phase.factor) * (1 + std::cos(std::numbers::pi * part)) / 2;
    case Kind::linear:
      return phase.first + (phase.factor - phase.first) * part;
  }
  return 1;
}

void check_phase(const std::string& field, const Phase& phase, bool last) {
  check_f32(field + ".first", phase.first, {});
  check_f32(field + ".factor", phase.factor, {});
  check_number(field + ".updates", static_cast<double>(phase.updates), {.low = 1});
  if (last && phase.lasts != 0)
    throw Error(Errc::invalid_argument,
                field + ".lasts: expected 0, for the last phase has no end, got " +
                    std::to_string(phase.lasts));
  if (!last) check_number(field + ".lasts", static_cast<double>(phase.lasts), {.low = 1});
}

void check_updates(const std::string& function, std::int64_t updates) {
  check_number("learning rate schedule, " + function + ": updates", static_cast<double>(updates),
               {.low = 1});
}

void check_factor(const std::string& function, const char* name, double factor) {
  check_f32("learning rate schedule, " + function + ": " + name, factor, {});
}

}  // namespace

LearningRateSchedule LearningRateSchedule::constant(double factor) {
  return on_hosts_thread("LearningRateSchedule::constant", [&] {
    check_factor("constant", "factor", factor);
    return LearningRateSchedule(Phase{.factor = factor});
  });
}

LearningRateSchedule LearningRateSchedule::step(std::int64_t updates, double factor) {
  return on_hosts_thread("LearningRateSchedule::step", [&] {
    check_updates("step", updates);
    check_factor("step", "factor", factor);
    return LearningRateSchedule(Phase{.kind = Kind::step, .factor = factor, .updates = updates});
  });
}

LearningRateSchedule LearningRateSchedule::exponential(double factor) {
  return on_hosts_thread("LearningRateSchedule::exponential", [&] {
    check_factor("exponential", "factor", factor);
    return LearningRateSchedule(Phase{.kind = Kind::exponential, .factor = factor});
  });
}

LearningRateSchedule LearningRateSchedule::cosine(std::int64_t updates, double last) {
  return on_hosts_thread("LearningRateSchedule::cosine", [&] {
    check_updates("cosine", updates);
    check_factor("cosine", "last", last);
    return LearningRateSchedule(Phase{.kind = Kind::cosine, .factor = last, .updates = updates});
  });
}

LearningRateSchedule LearningRateSchedule::linear(std::int64_t updates, double first, double last) {
  return on_hosts_thread("LearningRateSchedule::linear", [&] {
    check_updates("linear", updates);
    check_factor("linear", "first", first);
    check_factor("linear", "last", last);
    return LearningRateSchedule(
        Phase{.kind = Kind::linear, .first = first, .factor = last, .updates = updates});
  });
}

LearningRateSchedule LearningRateSchedule::then(std::int64_t updates,
                                                const LearningRateSchedule& next) const {
  return on_hosts_thread("LearningRateSchedule::then", [&] {
    check_updates("then", updates);
    LearningRateSchedule result;
    result.phases_.clear();
    std::int64_t left = updates;
    for (Phase phase : phases_) {
      if (left == 0) break;
      phase.lasts = phase.lasts == 0 ? left : std::min(left, phase.lasts);
      left -= phase.lasts;
      result.phases_.push_back(phase);
    }
    result.phases_.insert(result.phases_.end(), next.phases_.begin(), next.phases_.end());
    return result;
  });
}

LearningRateSchedule LearningRateSchedule::after_warm_up(std::int64_t updates, double first) const {
  return linear(updates, first).then(updates, *this);
}

double LearningRateSchedule::at(std::int64_t update) const {
  return on_hosts_thread("LearningRateSchedule::at", [&]() -> double {
    check_number("learning rate schedule, at: update", static_cast<double>(update), {});
    std::int64_t update_of_phase = update;
    for (const Phase& phase : phases_) {
      if (phase.lasts == 0 || update_of_phase < phase.lasts)
        return factor_at(phase, update_of_phase);
      update_of_phase -= phase.lasts;
    }
    return 1;
  });
}

LearningRateSchedule LearningRateSchedule::of(const std::vector<Phase>& phases) {
  return on_hosts_thread("LearningRateSchedule::of", [&] {
    if (phases.empty())
      throw Error(Errc::invalid_argument, "schedule: expected at least one phase, got none");
    for (std::size_t i = 0; i < phases.size(); ++i)
      check_phase("schedule[" + std::to_string(i) + "]", phases[i], i + 1 == phases.size());
    LearningRateSchedule result;
    result.phases_ = phases;
    return result;
  });
}

std::string_view to_string(LearningRateSchedule::Kind value) noexcept {
  switch (value) {
    case Kind::constant:
      return "constant";
    case Kind::step:
      return "step";
    case Kind::exponential:
      return "exponential";
    case Kind::cosine:
      return "cosine";
    case Kind::linear:
      return "linear";
  }
  return "unknown";
}

}  // namespace penstock
