#include <cmath>
#include <memory>

#include "engine/fit/best_epoch.hpp"
#include "graph/values/hosts_thread.hpp"
#include "graph/values/number_range.hpp"
#include "penstock/error.hpp"
#include "penstock/fit.hpp"

namespace penstock {
namespace {

constexpr const char* stopping_subject = "early stopping";

void check(const EarlyStopping& rule) {
  const auto refuse = [](const std::string& what) {
    throw Error(Errc::invalid_argument, std::string(stopping_subject) + ": " + what);
  };
  if (!(rule.min_delta >= 0) || std::isinf(rule.min_delta))
    refuse("min_delta: expected 0 or more, got " + number_text(rule.min_delta));
  if (rule.patience < 0)
    refuse("patience: expected 0 or more, got " + std::to_string(rule.patience));
}

BestEpoch::Rule epoch_rule(const EarlyStopping& rule) {
  return {.subject = stopping_subject,
          .monitor = rule.monitor,
          .higher_is_better = rule.higher_is_better,
          .min_delta = rule.min_delta,
          .keeps_weights = rule.restore_best_weights ? "restore_best_weights" : ""};
}

/// A Stopper counts the epochs since the last gain.
class Stopper {
 public:
  explicit Stopper(const EarlyStopping& rule)
      : best_epoch(epoch_rule(rule)), patience_(rule.patience) {}

  void begin(const std::vector<std::string>& names) {
    best_epoch.begin(names);
    waited_ = 0;
  }

  Next after(const EpochRecord& epoch) {
    waited_ = best_epoch.gains(epoch) ? 0 : waited_ + 1;
    return waited_ > patience_ ? Next::stop : Next::go_on;
  }

  BestEpoch best_epoch;

 private:
  int patience_;
  int waited_ = 0;  // `waited_` is the number of epochs since the last gain.
};

}  // namespace

FitCallback early_stopping(const EarlyStopping& rule) {
  return on_hosts_thread(stopping_subject, [&] {
    check(rule);
    const auto stopper = std::make_shared<Stopper>(rule);
    FitCallback callback;
    callback.set_model = [stopper](const Model& model) {
      on_hosts_thread(stopping_subject, [&] { stopper->best_epoch.set_model(model); });
    };
    callback.on_fit_begin = [stopper](const std::vector<std::string>& names) {
      on_hosts_thread(stopping_subject, [&] { stopper->begin(names); });
    };
    callback.on_epoch_end = [stopper](const EpochRecord& epoch) {
      return on_hosts_thread(stopping_subject, [&] { return stopper->after(epoch); });
    };
    callback.on_fit_end = [stopper](const History&) {
      on_hosts_thread(stopping_subject, [&] { stopper->best_epoch.end(); });
    };
    return callback;
  });
}

}  // namespace penstock
