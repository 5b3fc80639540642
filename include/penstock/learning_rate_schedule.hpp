// A LearningRateSchedule says how learning rates change from update to update. It is a value.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "penstock/standard.hpp"

namespace penstock {

/// A LearningRateSchedule has a factor for each update, by which the learning rate of every
/// parameter group is multiplied. Updates are counted from 0, or from the step of an optimizer
/// state that was restored; each update has its own factor, even if one call does several updates.
/// In the formulas below, u is the number of the update. Schedules are made from one another:
///   LearningRateSchedule::cosine(10'000).after_warm_up(500)
/// @throws Error invalid_argument from all functions, naming the argument that is out of range:
/// counts of updates have to be 1 or more, the number of an update and factors 0 or more.
class LearningRateSchedule {
 public:
  /// A Kind is the formula of a segment. The function of LearningRateSchedule with the same name
  /// says what it computes.
  enum class Kind : std::uint8_t { constant, step, exponential, cosine, linear };
  /// A Segment describes one formula of a schedule and how long it lasts. Segments follow one
  /// another, and each counts its updates from 0.
  struct Segment {
    Kind kind = Kind::constant;  ///< `kind` says which formula it is.
    double first = 1;            ///< `first` is the first factor of `linear`.
    /// `factor` is the factor of `constant`, `step` and `exponential`, and the last factor of
    /// `cosine` and `linear`.
    double factor = 1;
    /// `updates` is the number of updates that the formulas of `step`, `cosine` and `linear` use.
    std::int64_t updates = 1;
    /// The next segment begins after this many updates. The last segment has no end and 0 here.
    std::int64_t lasts = 0;
  };

  /// Makes a schedule whose factor is always 1.
  LearningRateSchedule() = default;

  /// Returns a schedule whose factor is always `factor`.
  static LearningRateSchedule constant(double factor = 1);
  /// Returns a schedule that multiplies by `factor` once after every `updates` updates:
  /// factor^floor(u / updates) (torch.optim.lr_scheduler.StepLR).
  static LearningRateSchedule step(std::int64_t updates, double factor = 0.1);
  /// Returns a schedule of the factors `factor`^u (ExponentialLR).
  static LearningRateSchedule exponential(double factor);
  /// Returns a schedule that goes from 1 to `last` along half a cosine, last + (1 - last)·(1 +
  /// cos(π·u/updates))/2, and stays at `last` (CosineAnnealingLR).
  static LearningRateSchedule cosine(std::int64_t updates, double last = 0);
  /// Returns a schedule that goes from `first` to `last` in equal steps, first + (last -
  /// first)·u/updates, and stays at `last` (LinearLR).
  static LearningRateSchedule linear(std::int64_t updates, double first, double last = 1);

  /// Returns a schedule that is this one for `updates` updates and then `next`, which begins at its
  /// own update 0 (SequentialLR).
  LearningRateSchedule then(std::int64_t updates, const LearningRateSchedule& next) const;
  /// Returns a schedule that is linear(updates, first) and then this one.
  LearningRateSchedule after_warm_up(std::int64_t updates, double first = 0) const;

  /// Returns the factor of update `update`.
  double at(std::int64_t update) const;

  /// Returns the segments of this schedule.
  const std::vector<Segment>& segments() const noexcept { return segments_; }
  /// Returns a schedule of the segments `segments`, of which there must be at least one.
  static LearningRateSchedule of(const std::vector<Segment>& segments);

 private:
  explicit LearningRateSchedule(const Segment& segment) : segments_{segment} {}

  std::vector<Segment> segments_ = {Segment{}};
};

/// Returns the name of the enumerator.
std::string_view to_string(LearningRateSchedule::Kind value) noexcept;

}  // namespace penstock
