#include "engine/fit/scores.hpp"

#include <limits>
#include <numeric>
#include <set>

#include "engine/fit/hosts_error.hpp"
#include "engine/fit/saved_numbers.hpp"
#include "graph/values/out_of_memory.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

double sum(std::span<const float> values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

/// A MeanState is the state of a metric that has a score.
class MeanState final : public MetricState {
 public:
  /// Makes a state of `metric`, which outlives the state.
  explicit MeanState(const Metric& metric) : metric_(metric) {}

  void add(const StepResult& result, const Batch& batch) override {
    score_ += metric_.score(result, batch);
  }
  void merge(const MetricState& other) override {
    score_ += static_cast<const MeanState&>(other).score_;
  }
  double value() const override { return score_.mean(); }
  SavedState save() const override { return saved(score_); }
  void load(const SavedState& state) override { score_ = score_in(state); }

 private:
  const Metric& metric_;
  Score score_;
};

std::unique_ptr<MetricState> started(const Metric& metric) {
  if (!metric.start) return std::make_unique<MeanState>(metric);
  std::unique_ptr<MetricState> state = call_host(metric.start);
  if (!state)
    throw Error(Errc::invalid_argument, "metric " + quoted_text(metric.name) +
                                            ": expected a state from its function start, got none");
  return state;
}

/// Returns what `call` returns, which saves or loads the state of `metric`. The text of an error
/// begins with the metric's name.
auto naming(const Metric& metric, const auto& call) {
  try {
    return call_host(call);
  } catch (const Error& error) {
    if (is_of_host(error)) throw;
    throw Error(error.code(), "metric " + quoted_text(metric.name) + ": " + error.what());
  }
}

/// Returns the beginning of the names under which a checkpoint has the state of the metric at
/// `position`. It has no name of a metric, because such a name may begin with another one.
std::string part_name(std::size_t position) {
  return "metric/" + std::to_string(position) + '/';
}

std::string functions_text(const Metric& metric) {
  if (metric.name.empty()) return "";
  return metric.score ? " with both" : " without a function";
}

}  // namespace

Score score_of(const Tensor& tensor, const OutputRows& rows) {
  const auto values = tensor.as<float>();
  const auto& [count, samples] = rows.micro_batches;
  const auto all = count + rows.shorter.count;
  if (std::ssize(values) != all) return {sum(values), std::ssize(values) * rows.summed};
  const auto first = static_cast<std::size_t>(count);
  return {sum(values.first(first)) * static_cast<double>(samples) +
              sum(values.subspan(first)) * static_cast<double>(rows.shorter.samples),
          count * samples * rows.summed + rows.shorter.count * rows.shorter.samples};
}

void check(std::span<const Metric> metrics) {
  std::set<std::string> names;
  for (const Metric& metric : metrics) {
    const bool has_one = static_cast<bool>(metric.score) != static_cast<bool>(metric.start);
    if (metric.name.empty() || !has_one)
      throw Error(Errc::invalid_argument,
                  "metrics: expected a name and a function score or start each, got " +
                      quoted_text(metric.name) + (has_one ? "" : functions_text(metric)));
    if (!names.insert(metric.name).second)
      throw Error(Errc::invalid_argument, "metrics: expected names that differ, got " +
                                              quoted_text(metric.name) + " once more");
  }
}

void check(std::span<const Metric> metrics, const StepResult& outline, const std::string& subject,
           const std::stop_token& stop) {
  for (const Metric& metric : metrics) {
    if (stop.stop_requested()) return;
    try {
      if (metric.check) call_host([&] { metric.check(outline); });
    } catch (const Error& error) {
      if (is_of_host(error)) throw;
      throw Error(error.code(),
                  subject + ": metric " + quoted_text(metric.name) + ": " + error.what());
    }
  }
}

Scores::Scores(std::span<const Metric> metrics, bool of_training)
    : metrics_(metrics), of_training_(of_training), states_(metrics.size()) {
  check(metrics);
}

bool Scores::counts(const Metric& metric) const {
  return !of_training_ || metric.name != "loss";
}

MetricState& Scores::state(std::size_t position) {
  if (!states_[position]) states_[position] = started(metrics_[position]);
  return *states_[position];
}

bool Scores::add(const StepResult& result, const Batch& batch, const std::stop_token& stop) {
  if (of_training_) {
    const std::int64_t samples = batch.front().shape()[0];
    loss_ += {result.mean_loss * static_cast<double>(samples), samples};
  }
  for (std::size_t i = 0; i < metrics_.size(); ++i) {
    if (!counts(metrics_[i])) continue;
    if (stop.stop_requested()) return false;
    MetricState& counted = state(i);
    call_host([&] { counted.add(result, batch); });
  }
  return true;
}

bool Scores::merge(const Scores& other, const std::stop_token& stop) {
  loss_ += other.loss_;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    if (!other.states_[i]) continue;
    if (metrics_[i].start && stop.stop_requested()) return false;
    MetricState& counted = state(i);
    call_host([&] { counted.merge(*other.states_[i]); });
  }
  return true;
}

SavedState Scores::save() const {
  SavedState state;
  add_part(state, "loss/", saved(loss_));
  for (std::size_t i = 0; i < metrics_.size(); ++i)
    if (states_[i])
      add_part(state, part_name(i), naming(metrics_[i], [&] { return states_[i]->save(); }));
  return state;
}

void Scores::load(const SavedState& saved) {
  loss_ = score_in(part_of(saved, "loss/"));
  for (std::size_t i = 0; i < metrics_.size(); ++i) {
    const SavedState part = part_of(saved, part_name(i));
    if (part.texts.empty() && part.tensors.empty()) continue;
    MetricState& counted = state(i);
    naming(metrics_[i], [&] { counted.load(part); });
  }
}

void Scores::check_savable() const {
  for (const Metric& metric : metrics_)
    if (counts(metric)) naming(metric, [&] { return started(metric)->save(); });
}

std::optional<std::vector<NamedValue>> Scores::values(const std::stop_token& stop) const {
  std::vector<NamedValue> values;
  if (of_training_) values.push_back({"loss", loss_.mean()});
  for (std::size_t i = 0; i < metrics_.size(); ++i) {
    if (!counts(metrics_[i])) continue;
    if (metrics_[i].start && stop.stop_requested()) return std::nullopt;
    double value = std::numeric_limits<double>::quiet_NaN();
    if (states_[i]) value = call_host([&] { return states_[i]->value(); });
    values.push_back({metrics_[i].name, value});
  }
  return values;
}

}  // namespace penstock
