#include "engine/fit/best_epoch.hpp"

#include <algorithm>
#include <utility>

#include "engine/model/model_access.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

/// Returns a hint on how a training gets the value `monitor` if that name begins with "val_", as
/// names of an evaluation's values do, and an empty text otherwise.
std::string hint_of(const std::string& monitor) {
  const std::string prefix = "val_";
  if (!monitor.starts_with(prefix)) return "";
  return "; FitOptions::validation_model measures it if a metric is named " +
         quoted_text(monitor.substr(prefix.size()));
}

}  // namespace

std::vector<NamedTensor> weights_of(const Model& model) {
  std::vector<NamedTensor> weights;
  for (const ParameterInfo& info : model.parameters())
    weights.push_back({info.name, model.weight(info.name)});
  return weights;
}

BestEpoch::BestEpoch(Rule rule) : rule_(std::move(rule)) {
  if (rule_.monitor.empty())
    throw Error(Errc::invalid_argument, rule_.subject + ": monitor: expected a name, got none");
}

void BestEpoch::set_model(const Model& model) {
  if (!rule_.keeps_weights.empty()) model_ = model;
}

void BestEpoch::begin(const std::vector<std::string>& names) {
  if (std::ranges::find(names, rule_.monitor) == names.end())
    throw Error(Errc::invalid_argument, rule_.subject +
                                            ": monitor: expected a value of this training, " +
                                            printable(joined(names)) + ", got " +
                                            quoted_text(rule_.monitor) + hint_of(rule_.monitor));
  best_ = -std::numeric_limits<double>::infinity();
  last_gained_ = true;
  weights_.clear();
}

bool BestEpoch::gains(const EpochRecord& epoch) {
  const double value = value_of(epoch.values, rule_.monitor);
  const double goodness = rule_.higher_is_better ? value : -value;
  last_gained_ = goodness > best_ + rule_.min_delta;
  if (!last_gained_) return false;
  if (!rule_.keeps_weights.empty()) keep_weights();
  best_ = goodness;
  return true;
}

void BestEpoch::end() {
  if (model_ && !last_gained_) ModelAccess::set_weights(*model_, rule_.subject, weights_);
  weights_.clear();
  model_.reset();
}

void BestEpoch::keep_weights() {
  if (!model_)
    throw Error(Errc::invalid_argument,
                rule_.subject + ": " + rule_.keeps_weights +
                    ": expected set_model to be called before the first epoch, as fit() does");
  weights_ = weights_of(*model_);
}

}  // namespace penstock
