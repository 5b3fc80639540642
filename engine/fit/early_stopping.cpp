#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/values/joined.hpp"
#include "penstock/error.hpp"
#include "penstock/fit.hpp"

namespace penstock {
namespace {

void check(const EarlyStopping& rule) {
  const auto refuse = [](const std::string& what) {
    throw Error(Errc::invalid_argument, "early stopping: " + what);
  };
  if (rule.monitor.empty()) refuse("monitor: expected a name, got none");
  if (!(rule.min_delta >= 0) || std::isinf(rule.min_delta))
    refuse("min_delta: expected 0 or more, got " + std::to_string(rule.min_delta));
  if (rule.patience < 0)
    refuse("patience: expected 0 or more, got " + std::to_string(rule.patience));
}

void expect_name(const std::string& monitor, const std::vector<std::string>& names) {
  if (std::ranges::find(names, monitor) != names.end()) return;
  throw Error(Errc::invalid_argument,
              "early stopping: monitor: expected a value of this training, " + joined(names) +
                  ", got \"" + monitor + '"');
}

}  // namespace

FitCallback early_stopping(const EarlyStopping& rule) {
  check(rule);
  FitCallback callback;
  callback.on_fit_begin = [monitor = rule.monitor](const std::vector<std::string>& names) {
    expect_name(monitor, names);
  };
  callback.on_epoch_end = [rule, best = -std::numeric_limits<double>::infinity(),
                           waited = 0](const EpochRecord& epoch) mutable {
    const double value = value_of(epoch.values, rule.monitor);
    const double goodness = rule.higher_is_better ? value : -value;
    if (goodness > best + rule.min_delta) {
      best = goodness;
      waited = 0;
      return Next::go_on;
    }
    return ++waited > rule.patience ? Next::stop : Next::go_on;
  };
  return callback;
}

}  // namespace penstock
