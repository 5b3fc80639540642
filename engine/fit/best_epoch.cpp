#include "engine/fit/best_epoch.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "engine/fit/saved_numbers.hpp"
#include "engine/model/model_access.hpp"
#include "graph/values/hosts_thread.hpp"
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

constexpr int most_epochs = std::numeric_limits<int>::max() - 1;

/// A BestEpoch is the state of one callback. One thread uses it.
class BestEpoch {
 public:
  explicit BestEpoch(BestEpochRule rule);

  const std::string& subject() const noexcept { return rule_.subject; }
  void set_model(const Model& model);
  void begin(const std::vector<std::string>& names);
  Next after(const EpochRecord& epoch);
  void end();
  SavedState save() const;
  void load(const SavedState& state);

 private:
  bool gains(const EpochRecord& epoch);
  void keep_weights();

  BestEpochRule rule_;
  double best_ = -std::numeric_limits<double>::infinity();
  bool last_gained_ = true;           // This is true before the first epoch, too.
  int waited_ = 0;                    // `waited_` is the number of epochs since the last gain.
  std::optional<Model> model_;        // `model_` is empty unless weights are kept.
  std::vector<NamedTensor> weights_;  // `weights_` has the weights after the last gain.
};

BestEpoch::BestEpoch(BestEpochRule rule) : rule_(std::move(rule)) {
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
  waited_ = 0;
  weights_.clear();
}

Next BestEpoch::after(const EpochRecord& epoch) {
  waited_ = gains(epoch) ? 0 : waited_ + 1;
  return rule_.patience && waited_ > *rule_.patience ? Next::stop : Next::go_on;
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

SavedState BestEpoch::save() const {
  const std::int64_t numbers[] = {bits_of(best_), last_gained_, waited_};
  SavedState state{.tensors = {{"numbers", tensor_of(numbers)}}};
  add_part(state, "weights/", {.tensors = weights_});
  return state;
}

void BestEpoch::load(const SavedState& state) {
  const auto numbers = whole_numbers(state, "numbers", 3);
  best_ = number_of(numbers[0]);
  last_gained_ = numbers[1] != 0;
  waited_ = static_cast<int>(std::clamp<std::int64_t>(numbers[2], 0, most_epochs));
  weights_ = part_of(state, "weights/").tensors;
}

void BestEpoch::keep_weights() {
  if (!model_)
    throw Error(Errc::invalid_argument,
                rule_.subject + ": " + rule_.keeps_weights +
                    ": expected set_model to be called before the first epoch, as fit() does");
  weights_ = weights_of(*model_);
}

}  // namespace

std::vector<NamedTensor> weights_of(const Model& model) {
  std::vector<NamedTensor> weights;
  for (const ParameterInfo& info : model.parameters())
    weights.push_back({info.name, model.weight(info.name)});
  return weights;
}

FitCallback best_epoch_callback(const BestEpochRule& rule) {
  const auto epoch = std::make_shared<BestEpoch>(rule);
  FitCallback callback;
  callback.set_model = [epoch](const Model& model) {
    on_hosts_thread(epoch->subject(), [&] { epoch->set_model(model); });
  };
  callback.on_fit_begin = [epoch](const std::vector<std::string>& names) {
    on_hosts_thread(epoch->subject(), [&] { epoch->begin(names); });
  };
  callback.on_epoch_end = [epoch](const EpochRecord& record) {
    return on_hosts_thread(epoch->subject(), [&] { return epoch->after(record); });
  };
  callback.on_fit_end = [epoch](const History&) {
    on_hosts_thread(epoch->subject(), [&] { epoch->end(); });
  };
  callback.state_name = rule.subject + " of " + rule.monitor;
  callback.save_state = [epoch] {
    return on_hosts_thread(epoch->subject(), [&] { return epoch->save(); });
  };
  callback.load_state = [epoch](const SavedState& state) {
    on_hosts_thread(epoch->subject(), [&] { epoch->load(state); });
  };
  return callback;
}

}  // namespace penstock
