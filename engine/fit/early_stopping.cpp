#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "engine/model/model_access.hpp"
#include "graph/values/hosts_thread.hpp"
#include "graph/values/number_range.hpp"
#include "graph/values/text.hpp"
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

/// Returns a hint on how a training gets the value `monitor` if that name begins with "val_", as
/// names of an evaluation's values do, and an empty text otherwise.
std::string hint_of(const std::string& monitor) {
  const std::string prefix = "val_";
  if (!monitor.starts_with(prefix)) return "";
  return "; FitOptions::validation_model measures it if a metric is named " +
         quoted_text(monitor.substr(prefix.size()));
}

void expect_name(const std::string& monitor, const std::vector<std::string>& names) {
  if (std::ranges::find(names, monitor) != names.end()) return;
  throw Error(Errc::invalid_argument,
              "early stopping: monitor: expected a value of this training, " +
                  printable(joined(names)) + ", got " + quoted_text(monitor) + hint_of(monitor));
}

/// A Stopper counts the epochs since the last gain. A gain is an epoch whose value is better than
/// the best value before by more than `min_delta`. If weights are to be restored, the Stopper keeps
/// those of the last gain.
class Stopper {
 public:
  explicit Stopper(const EarlyStopping& rule) : rule_(rule) {}

  void set_model(const Model& model) {
    if (rule_.restore_best_weights) model_ = model;
  }

  void begin(const std::vector<std::string>& names) {
    expect_name(rule_.monitor, names);
    best_ = -std::numeric_limits<double>::infinity();
    waited_ = 0;
    weights_.clear();
  }

  Next after(const EpochRecord& epoch) {
    const double value = value_of(epoch.values, rule_.monitor);
    const double goodness = rule_.higher_is_better ? value : -value;
    if (goodness > best_ + rule_.min_delta) {
      if (rule_.restore_best_weights) keep_weights();
      best_ = goodness;
      waited_ = 0;
      return Next::go_on;
    }
    return ++waited_ > rule_.patience ? Next::stop : Next::go_on;
  }

  void end() {
    if (model_ && waited_ > 0) ModelAccess::set_weights(*model_, "early stopping", weights_);
    weights_.clear();
    model_.reset();
  }

 private:
  void keep_weights() {
    if (!model_)
      throw Error(Errc::invalid_argument,
                  "early stopping: restore_best_weights: expected set_model to be called before "
                  "the first epoch, as fit() does");
    std::vector<NamedTensor> weights;
    for (const ParameterInfo& info : model_->parameters())
      weights.push_back({info.name, model_->weight(info.name)});
    weights_ = std::move(weights);
  }

  EarlyStopping rule_;
  double best_ = -std::numeric_limits<double>::infinity();
  int waited_ = 0;                    // `waited_` is the number of epochs since the last gain.
  std::optional<Model> model_;        // `model_` is empty unless weights are to be restored.
  std::vector<NamedTensor> weights_;  // `weights_` has the weights after the last gain.
};

}  // namespace

FitCallback early_stopping(const EarlyStopping& rule) {
  constexpr const char* subject = "early stopping";
  return on_hosts_thread(subject, [&] {
    check(rule);
    const auto stopper = std::make_shared<Stopper>(rule);
    FitCallback callback;
    callback.set_model = [stopper](const Model& model) {
      on_hosts_thread(subject, [&] { stopper->set_model(model); });
    };
    callback.on_fit_begin = [stopper](const std::vector<std::string>& names) {
      on_hosts_thread(subject, [&] { stopper->begin(names); });
    };
    callback.on_epoch_end = [stopper](const EpochRecord& epoch) {
      return on_hosts_thread(subject, [&] { return stopper->after(epoch); });
    };
    callback.on_fit_end = [stopper](const History&) {
      on_hosts_thread(subject, [&] { stopper->end(); });
    };
    return callback;
  });
}

}  // namespace penstock
