// A LiveMetrics has the numbers of a run that is under way, as a page in the text format of
// Prometheus. The thread that trains notes the numbers, and any thread may ask for the page.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "apps/trainer/output/metrics.hpp"

namespace trainer {

class LiveMetrics {
 public:
  /// Notes that a step is done.
  void note(const StepMetrics& step);
  /// Notes what the run has come to.
  void note(const RunMetrics& run);

  /// Returns the page. Before the first step, it has no numbers of a step.
  std::string page() const;

 private:
  mutable std::mutex mutex_;
  std::int64_t steps_ = 0, samples_ = 0;
  std::optional<StepMetrics> last_step_;
  std::optional<double> test_accuracy_, validation_loss_;
};

}  // namespace trainer
