#include "engine/fit/best_epoch.hpp"
#include "graph/values/hosts_thread.hpp"
#include "penstock/fit_callbacks.hpp"

namespace penstock {

FitCallback best_weights(const BestWeights& best) {
  constexpr const char* subject = "best weights";
  return on_hosts_thread(subject, [&] {
    return best_epoch_callback({.subject = subject,
                                .monitor = best.monitor,
                                .higher_is_better = best.higher_is_better,
                                .keeps_weights = "weights"});
  });
}

}  // namespace penstock
