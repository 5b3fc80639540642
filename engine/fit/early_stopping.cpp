#include <cmath>

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

}  // namespace

FitCallback early_stopping(const EarlyStopping& rule) {
  return on_hosts_thread(stopping_subject, [&] {
    check(rule);
    return best_epoch_callback(
        {.subject = stopping_subject,
         .monitor = rule.monitor,
         .higher_is_better = rule.higher_is_better,
         .min_delta = rule.min_delta,
         .keeps_weights = rule.restore_best_weights ? "restore_best_weights" : "",
         .patience = rule.patience});
  });
}

}  // namespace penstock
