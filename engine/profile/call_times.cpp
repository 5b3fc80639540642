#include "engine/profile/call_times.hpp"

#include <algorithm>
#include <limits>

namespace penstock {
namespace {

constexpr double no_time = std::numeric_limits<double>::infinity();

Latency latency_of(const std::vector<double>& seconds) {
  Latency latency;
  if (seconds.empty()) return latency;
  const auto [least, most] = std::ranges::minmax(seconds);
  double sum = 0;
  for (const double each : seconds) sum += each;
  // A rounded mean could be less than the least number, or more than the greatest.
  const double mean = std::clamp(sum / static_cast<double>(seconds.size()), least, most);
  return {least, mean, most};
}

class Times {
 public:
  Times(const graph::Plan& plan, const CallSpan& call)
      : plan_(plan),
        call_(call),
        rows_(static_cast<std::size_t>(call.micro_batches * call.replicas)),
        begins_(rows_ * plan.stages.size(), no_time),
        forward_ends_(begins_.size(), 0),
        backward_ends_(begins_.size(), 0) {}

  void note(const TraceEvent& event) {
    const std::int64_t number = event.micro_batch - call_.first_micro_batch;
    if (number < 0 || number >= call_.micro_batches || !is_program(event)) return;
    const std::size_t at = place(static_cast<std::size_t>(number * call_.replicas + event.replica),
                                 static_cast<std::size_t>(event.stage));
    const double begin = seconds_between(call_.begin_ns, event.begin_ns);
    const double end = seconds_between(call_.begin_ns, event.end_ns);
    first_ = std::min(first_, begin);
    if (event.activity == Activity::forward) {
      begins_[at] = begin;
      forward_ends_[at] = end;
    } else {
      backward_ends_[at] = end;
    }
  }

  CallReport report(const Returns& returns) const {
    CallReport report{.seconds = seconds_between(call_.begin_ns, call_.end_ns),
                      .first_run_seconds = first_ == no_time ? 0 : first_};
    for (std::size_t i = 0; i < plan_.inputs.size(); ++i)
      report.inputs.push_back({plan_.inputs[i].name, read_times(static_cast<std::int32_t>(i))});
    std::vector<double> ends(rows_, 0);
    for (std::size_t i = 0; i < plan_.outputs.size(); ++i)
      report.outputs.push_back({plan_.outputs[i].name, computed_times(i, returns, ends)});
    add_latencies(report, ends);
    return report;
  }

 private:
  std::size_t place(std::size_t row, std::size_t stage) const {
    return row * plan_.stages.size() + stage;
  }

  std::vector<double> read_times(std::int32_t input) const {
    std::vector<double> times(rows_, no_time);
    for (const graph::Edge& edge : plan_.edges)
      if (edge.kind == graph::EdgeKind::input && edge.input == input)
        for (std::size_t row = 0; row < rows_; ++row)
          times[row] = std::min(times[row], begins_[place(row, graph::index(edge.to))]);
    return times;
  }

  /// Returns when output number `output` of each micro-batch that the call returns was computed.
  /// `ends` has, for each micro-batch, the time of its latest output so far, and is updated.
  std::vector<double> computed_times(std::size_t output, const Returns& returns,
                                     std::vector<double>& ends) const {
    std::vector<double> times;
    for (std::size_t stage = 0; stage < plan_.stages.size(); ++stage) {
      const graph::StagePlan& plan = plan_.stages[stage];
      const auto number = static_cast<std::int32_t>(output);
      if (std::ranges::count(plan.outputs, number, &graph::OutputPlan::output) == 0) continue;
      const auto& computed = plan.outputs_after_backward ? backward_ends_ : forward_ends_;
      for (std::size_t row = 0; row < rows_; ++row) {
        const double end = computed[place(row, stage)];
        ends[row] = std::max(ends[row], end);
        if (returns(output, static_cast<std::int64_t>(row) / call_.replicas)) times.push_back(end);
      }
    }
    return times;
  }

  void add_latencies(CallReport& report, const std::vector<double>& ends) const {
    std::vector<double> to, on, from;
    for (std::size_t row = 0; row < rows_; ++row) {
      const auto first = begins_.begin() + static_cast<std::ptrdiff_t>(place(row, 0));
      to.push_back(
          *std::min_element(first, first + static_cast<std::ptrdiff_t>(plan_.stages.size())));
      on.push_back(ends[row] - to.back());
      from.push_back(report.seconds - ends[row]);
    }
    report.to_ipus = latency_of(to);
    report.on_ipus = latency_of(on);
    report.from_ipus = latency_of(from);
  }

  const graph::Plan& plan_;
  const CallSpan& call_;
  std::size_t rows_;  // The call had this many micro-batches in all replicas.
  // `begins_` says when each forward program began, by row, then by stage.
  std::vector<double> begins_;
  // `forward_ends_` says when each forward program ended, by row, then by stage.
  std::vector<double> forward_ends_;
  // `backward_ends_` says when each backward program ended, by row, then by stage.
  std::vector<double> backward_ends_;
  double first_ = no_time;
};

}  // namespace

CallReport report_on_call(const graph::Plan& plan, const CallSpan& call, const Returns& returns,
                          std::span<const TraceEvent> events) {
  Times times(plan, call);
  for (const TraceEvent& event : events) times.note(event);
  return times.report(returns);
}

}  // namespace penstock
