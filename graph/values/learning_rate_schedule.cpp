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

using ScheduleKind = LearningRateSchedule::Kind;
using Segment = LearningRateSchedule::Segment;

/// Returns the factor of update number `update` of the segment, whose first update is number 0.
double factor_at(const Segment& segment, std::int64_t update) {
  const auto done = static_cast<double>(update);
  const double part = std::min(1.0, done / static_cast<double>(segment.updates));
  switch (segment.kind) {
    case ScheduleKind::constant:
      return segment.factor;
    case ScheduleKind::step:
      return std::pow(segment.factor, static_cast<double>(update / segment.updates));
    case ScheduleKind::exponential:
      return std::pow(segment.factor, done);
    case ScheduleKind::cosine:
      return segment.factor + (1 - segment.factor) * (1 + std::cos(std::numbers::pi * part)) / 2;
    case ScheduleKind::linear:
      return segment.first + (segment.factor - segment.first) * part;
  }
  return 1;
}

void check_segment(const std::string& field, const Segment& segment, bool last) {
  check_f32(field + ".first", segment.first, {});
  check_f32(field + ".factor", segment.factor, {});
  check_number(field + ".updates", static_cast<double>(segment.updates), {.low = 1});
  if (last && segment.lasts != 0)
    throw Error(Errc::invalid_argument,
                field + ".lasts: expected 0, for the last segment has no end, got " +
                    std::to_string(segment.lasts));
  if (!last) check_number(field + ".lasts", static_cast<double>(segment.lasts), {.low = 1});
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
    return LearningRateSchedule(Segment{.factor = factor});
  });
}

LearningRateSchedule LearningRateSchedule::step(std::int64_t updates, double factor) {
  return on_hosts_thread("LearningRateSchedule::step", [&] {
    check_updates("step", updates);
    check_factor("step", "factor", factor);
    return LearningRateSchedule(
        Segment{.kind = ScheduleKind::step, .factor = factor, .updates = updates});
  });
}

LearningRateSchedule LearningRateSchedule::exponential(double factor) {
  return on_hosts_thread("LearningRateSchedule::exponential", [&] {
    check_factor("exponential", "factor", factor);
    return LearningRateSchedule(Segment{.kind = ScheduleKind::exponential, .factor = factor});
  });
}

LearningRateSchedule LearningRateSchedule::cosine(std::int64_t updates, double last) {
  return on_hosts_thread("LearningRateSchedule::cosine", [&] {
    check_updates("cosine", updates);
    check_factor("cosine", "last", last);
    return LearningRateSchedule(
        Segment{.kind = ScheduleKind::cosine, .factor = last, .updates = updates});
  });
}

LearningRateSchedule LearningRateSchedule::linear(std::int64_t updates, double first, double last) {
  return on_hosts_thread("LearningRateSchedule::linear", [&] {
    check_updates("linear", updates);
    check_factor("linear", "first", first);
    check_factor("linear", "last", last);
    return LearningRateSchedule(
        Segment{.kind = ScheduleKind::linear, .first = first, .factor = last, .updates = updates});
  });
}

LearningRateSchedule LearningRateSchedule::then(std::int64_t updates,
                                                const LearningRateSchedule& next) const {
  return on_hosts_thread("LearningRateSchedule::then", [&] {
    check_updates("then", updates);
    LearningRateSchedule result;
    result.segments_.clear();
    std::int64_t left = updates;
    for (Segment segment : segments_) {
      if (left == 0) break;
      segment.lasts = segment.lasts == 0 ? left : std::min(left, segment.lasts);
      left -= segment.lasts;
      result.segments_.push_back(segment);
    }
    result.segments_.insert(result.segments_.end(), next.segments_.begin(), next.segments_.end());
    return result;
  });
}

LearningRateSchedule LearningRateSchedule::after_warm_up(std::int64_t updates, double first) const {
  return linear(updates, first).then(updates, *this);
}

double LearningRateSchedule::at(std::int64_t update) const {
  return on_hosts_thread("LearningRateSchedule::at", [&]() -> double {
    // A weight update calls this function, and allocates nothing.
    if (update < 0)
      check_number("learning rate schedule, at: update", static_cast<double>(update), {});
    std::int64_t update_of_segment = update;
    for (const Segment& segment : segments_) {
      if (segment.lasts == 0 || update_of_segment < segment.lasts)
        return factor_at(segment, update_of_segment);
      update_of_segment -= segment.lasts;
    }
    return 1;
  });
}

LearningRateSchedule LearningRateSchedule::of(const std::vector<Segment>& segments) {
  return on_hosts_thread("LearningRateSchedule::of", [&] {
    if (segments.empty())
      throw Error(Errc::invalid_argument, "schedule: expected at least one segment, got none");
    for (std::size_t i = 0; i < segments.size(); ++i)
      check_segment("schedule[" + std::to_string(i) + "]", segments[i], i + 1 == segments.size());
    LearningRateSchedule result;
    result.segments_ = segments;
    return result;
  });
}

std::string_view to_string(LearningRateSchedule::Kind value) noexcept {
  switch (value) {
    case ScheduleKind::constant:
      return "constant";
    case ScheduleKind::step:
      return "step";
    case ScheduleKind::exponential:
      return "exponential";
    case ScheduleKind::cosine:
      return "cosine";
    case ScheduleKind::linear:
      return "linear";
  }
  return "unknown";
}

}  // namespace penstock
