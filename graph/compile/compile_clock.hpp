// A CompileClock tells a listener how far a compilation is, and measures how long each of its steps
// takes.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <string_view>
#include <vector>

#include "graph/values/stopwatch.hpp"
#include "penstock/report.hpp"

namespace penstock::graph {

/// The compiler calls this function before each step, with the name of the step, the number of
/// steps that are over, and the number of all steps.
using CompileListener = std::function<void(const char* step, int done, int all)>;

/// These are the names of all steps, in their order.
inline constexpr std::array<std::string_view, 7> compile_steps{
    "shapes", "layouts", "gradients", "stages", "partition", "memory", "report"};

/// A StepPosition is the position of a step in `compile_steps`. A program that names a step that is
/// not in that list does not compile.
class StepPosition {
 public:
  consteval StepPosition(const char* name) {
    while (compile_steps[value_] != name) ++value_;
  }
  std::size_t value() const { return value_; }

 private:
  std::size_t value_ = 0;
};

class CompileClock {
 public:
  /// Makes a clock that calls `listener` before each step. `listener` may be null, and outlives the
  /// clock.
  explicit CompileClock(const CompileListener& listener) : listener_(listener) {}

  /// Ends the step before `step`, if there is one, and begins `step`. Steps begin in the order of
  /// compile_steps.
  /// @throws whatever the listener throws.
  void begin(StepPosition step);
  /// Ends the last step and returns the times of all steps.
  std::vector<CompileStep> end();
  /// Returns the seconds since the clock was made.
  double seconds() const { return all_.seconds(); }

 private:
  void end_step();

  const CompileListener& listener_;
  const Stopwatch all_;
  Stopwatch step_;  // This measures the step that began last.
  std::vector<CompileStep> steps_;
};

}  // namespace penstock::graph
