// LearningRateSchedule: how learning rates change from update to update. A value.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace penstock {

/// A factor for each update, by which the learning rate of every parameter group is multiplied.
/// Updates count from 0, on from the step of a restored optimizer state; each has its own factor,
/// also where one call does several. Schedules are made of one another:
///   LearningRateSchedule::cosine(10'000).after_warm_up(500)
/// Functions throw Error invalid_argument naming what is out of its range: numbers of updates are 1
/// or more, the number of an update and factors 0 or more.
class LearningRateSchedule {
 public:
  /// Names the formulas of phases; the functions below have them.
  enum class Kind : std::uint8_t { constant, step, exponential, cosine, linear };
  /// What a schedule consists of, one after the other; each counts updates from 0.
  struct Phase {
    Kind kind = Kind::constant;  ///< This names the phase's formula.
    double first = 1;            ///< of `linear`
    double factor = 1;           ///< and the last one of `cosine` and `linear`
    std::int64_t updates = 1;    ///< of `step`, `cosine`, `linear`
    std::int64_t lasts = 0;      ///< updates after which the next phase begins; the last has 0
  };

  /// 1 for ever.
  LearningRateSchedule() = default;

  /// The same factor for ever.
  static LearningRateSchedule constant(double factor = 1);
  /// `factor` once more after each so many updates: factor^(u / updates), rounded down
  /// (torch.optim.lr_scheduler.StepLR).
  static LearningRateSchedule step(std::int64_t updates, double factor = 0.1);
  /// `factor`^u (ExponentialLR).
  static LearningRateSchedule exponential(double factor);
  /// Half a cosine from 1 to `last`: last + (1 - last)·(1 + cos(π·u/updates))/2, then `last`
  /// (CosineAnnealingLR).
  static LearningRateSchedule cosine(std::int64_t updates, double last = 0);
  /// From `first` to `last` in equal steps: first + (last - first)·u/updates, then `last`
  /// (LinearLR).
  static LearningRateSchedule linear(std::int64_t updates, double first, double last = 1);

  /// This for so many updates, then `next`, which counts from 0 there (SequentialLR).
  LearningRateSchedule then(std::int64_t updates, const LearningRateSchedule& next) const;
  /// linear(updates, first), then this.
  LearningRateSchedule after_warm_up(std::int64_t updates, double first = 0) const;

  /// The factor of that update, 0 or more.
  double at(std::int64_t update) const;

  /// Returns what this schedule consists of.
  const std::vector<Phase>& phases() const noexcept { return phases_; }
  /// The schedule that has these phases, one at least.
  static LearningRateSchedule of(const std::vector<Phase>& phases);

 private:
  explicit LearningRateSchedule(const Phase& phase) : phases_{phase} {}

  std::vector<Phase> phases_ = {Phase{}};
};

std::string_view to_string(LearningRateSchedule::Kind value) noexcept;

}  // namespace penstock
