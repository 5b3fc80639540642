// CompileClock tells how far a compilation is, and measures how long each of its phases takes.
#pragma once

#include <functional>
#include <vector>

#include "graph/values/stopwatch.hpp"
#include "penstock/report.hpp"

namespace penstock::graph {

/// The compiler calls this function before each phase, with the name of the phase, the number of
/// phases that are over, and the number of all phases.
using CompileListener = std::function<void(const char* phase, int done, int all)>;

class CompileClock {
 public:
  /// `listener`, which may be null, outlives the clock.
  explicit CompileClock(const CompileListener& listener) : listener_(listener) {}

  /// Ends the phase before, if there is one, and begins `phase`, which is the next one in the list
  /// of all phases. @throws whatever the listener throws.
  void begin(const char* phase);
  /// Ends the last phase and returns the times of all.
  std::vector<CompileStep> end();
  /// Returns the seconds since the clock was made.
  double seconds() const { return all_.seconds(); }

 private:
  void end_phase();

  const CompileListener& listener_;
  const Stopwatch all_;
  Stopwatch phase_;  // Measures the phase that began last.
  std::vector<CompileStep> phases_;
};

}  // namespace penstock::graph
