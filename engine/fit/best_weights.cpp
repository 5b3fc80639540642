#include <memory>

#include "engine/fit/best_epoch.hpp"
#include "graph/values/hosts_thread.hpp"
#include "penstock/fit_callbacks.hpp"

namespace penstock {
namespace {

constexpr const char* best_subject = "best weights";

}  // namespace

FitCallback best_weights(const BestWeights& best) {
  return on_hosts_thread(best_subject, [&] {
    const auto epoch =
        std::make_shared<BestEpoch>(BestEpoch::Rule{.subject = best_subject,
                                                    .monitor = best.monitor,
                                                    .higher_is_better = best.higher_is_better,
                                                    .keeps_weights = "weights"});
    FitCallback callback;
    callback.set_model = [epoch](const Model& model) {
      on_hosts_thread(best_subject, [&] { epoch->set_model(model); });
    };
    callback.on_fit_begin = [epoch](const std::vector<std::string>& names) {
      on_hosts_thread(best_subject, [&] { epoch->begin(names); });
    };
    callback.on_epoch_end = [epoch](const EpochRecord& record) {
      on_hosts_thread(best_subject, [&] { epoch->gains(record); });
      return Next::go_on;
    };
    callback.on_fit_end = [epoch](const History&) {
      on_hosts_thread(best_subject, [&] { epoch->end(); });
    };
    return callback;
  });
}

}  // namespace penstock
