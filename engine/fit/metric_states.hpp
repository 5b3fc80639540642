// metric_of() makes metrics of plain functions and of plain counters. The metrics' functions may be
// called by fit() and evaluate(), or by the host itself on a thread of its own.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "graph/values/hosts_thread.hpp"
#include "penstock/error.hpp"
#include "penstock/metric.hpp"

namespace penstock {

inline constexpr std::string_view metric_subject = "a metric";

/// A StateOf is the state of a metric that counts with a `Counter`. A Counter is copied from one
/// that has counted nothing, and has functions as MetricState has; its `merge` takes a Counter.
template <class Counter>
class StateOf final : public MetricState {
 public:
  explicit StateOf(const Counter& fresh) : counter_(fresh) {}

  void add(const StepResult& result, const Batch& batch) override {
    on_hosts_thread(metric_subject, [&] { counter_.add(result, batch); });
  }
  void merge(const MetricState& other) override {
    on_hosts_thread(metric_subject, [&] {
      const auto* const same = dynamic_cast<const StateOf*>(&other);
      if (!same)
        throw Error(Errc::invalid_argument,
                    "MetricState::merge: expected a state of the same metric, got another one");
      counter_.merge(same->counter_);
    });
  }
  double value() const override {
    return on_hosts_thread(metric_subject, [&] { return counter_.value(); });
  }
  SavedState save() const override {
    return on_hosts_thread(metric_subject, [&] { return counter_.save(); });
  }
  void load(const SavedState& saved) override {
    on_hosts_thread(metric_subject, [&] { counter_.load(saved); });
  }

 private:
  Counter counter_;
};

/// Returns a function that does what `check` does, and that the host may call directly, too.
auto check_on_hosts_thread(const auto& check) {
  return [check](const StepResult& outline) {
    on_hosts_thread(metric_subject, [&] { check(outline); });
  };
}

/// Returns the metric called `name` that counts with copies of `fresh`.
template <class Counter>
Metric metric_of(std::string_view name, const Counter& fresh, const auto& check) {
  return {.name = std::string(name), .check = check_on_hosts_thread(check), .start = [fresh] {
            return on_hosts_thread(metric_subject, [&]() -> std::unique_ptr<MetricState> {
              return std::make_unique<StateOf<Counter>>(fresh);
            });
          }};
}

}  // namespace penstock
