#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/values/hosts_thread.hpp"
#include "graph/values/joined.hpp"
#include "graph/values/number_range.hpp"
#include "graph/values/printable.hpp"
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
    refuse("min_delta: expected 0 or more, got " + number_text(rule.min_delta));
  if (rule.patience < 0)
    refuse("patience: expected 0 or more, got " + std::to_string(rule.patience));
}

void expect_name(const std::string& monitor, const std::vector<std::string>& names) {
  if (std::ranges::find(names, monitor) != names.end()) return;
  throw Error(Errc::invalid_argument,
              "early stopping: monitor: expected a value of this training, " +
                  printable(joined(names)) + ", got " + quoted_text(monitor));
}

/// Counts the epochs without a gain.
class Patience {
 public:
  explicit Patience(const EarlyStopping& rule) : rule_(rule) {}

  Next after(const EpochRecord& epoch) {
    const double value = value_of(epoch.values, rule_.monitor);
    const double goodness = rule_.higher_is_better ? value : -value;
    if (goodness > best_ + rule_.min_delta) {
      best_ = goodness;
      waited_ = 0;
      return Next::go_on;
    }
    return ++waited_ > rule_.patience ? Next::stop : Next::go_on;
  }

 private:
  EarlyStopping rule_;
  double best_ = -std::numeric_limits<double>::infinity();
  int waited_ = 0;
};

}  // namespace

FitCallback early_stopping(const EarlyStopping& rule) {
  return on_hosts_thread("early stopping", [&] {
    check(rule);
    FitCallback callback;
    callback.on_fit_begin = [monitor = rule.monitor](const std::vector<std::string>& names) {
      on_hosts_thread("early stopping", [&] { expect_name(monitor, names); });
    };
    callback.on_epoch_end = [patience = Patience(rule)](const EpochRecord& epoch) mutable {
      return on_hosts_thread("early stopping", [&] { return patience.after(epoch); });
    };
    return callback;
  });
}

}  // namespace penstock
