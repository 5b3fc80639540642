#include "engine/fit/scores.hpp"

#include <algorithm>
#include <numeric>
#include <set>

#include "engine/fit/hosts_error.hpp"
#include "graph/values/out_of_memory.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

double sum(std::span<const float> values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
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
    if (metric.name.empty() || !metric.score)
      throw Error(Errc::invalid_argument, "metrics: expected a name and a function each, got " +
                                              quoted_text(metric.name) +
                                              (metric.score ? "" : " without a function"));
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
    : metrics_(metrics), of_training_(of_training), scores_(metrics.size()) {
  check(metrics);
}

bool Scores::counts(const Metric& metric) const {
  return !of_training_ || metric.name != "loss";
}

bool Scores::add(const StepResult& result, const Batch& batch, const std::stop_token& stop) {
  if (of_training_) {
    const std::int64_t samples = batch.front().shape()[0];
    loss_ += {result.mean_loss * static_cast<double>(samples), samples};
  }
  for (std::size_t i = 0; i < metrics_.size(); ++i) {
    if (!counts(metrics_[i])) continue;
    if (stop.stop_requested()) return false;
    scores_[i] += call_host([&] { return metrics_[i].score(result, batch); });
  }
  return true;
}

Scores& Scores::operator+=(const Scores& other) noexcept {
  loss_ += other.loss_;
  for (std::size_t i = 0; i < scores_.size(); ++i) scores_[i] += other.scores_[i];
  return *this;
}

std::vector<NamedValue> Scores::means(const std::string& prefix) const {
  std::vector<NamedValue> means;
  if (of_training_) means.push_back({prefix + "loss", loss_.mean()});
  for (std::size_t i = 0; i < metrics_.size(); ++i)
    if (counts(metrics_[i])) means.push_back({prefix + metrics_[i].name, scores_[i].mean()});
  return means;
}

}  // namespace penstock
