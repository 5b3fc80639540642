#include "penstock/report_text.hpp"

#include <algorithm>

#include "graph/values/hosts_thread.hpp"
#include "graph/values/number_range.hpp"
#include "graph/values/text.hpp"

namespace penstock {
namespace {

using Row = std::vector<std::string>;

/// A Shown says which columns are shown among those that are left out if no stage has anything in
/// them.
struct Shown {
  bool phases = false;
  bool recomputed = false;
  bool times = false;
};

Row heading(const Shown& shown) {
  Row row{"stage", "IPU"};
  if (shown.phases) row.insert(row.end(), {"phase", "numbers"});
  row.insert(row.end(), {"blocks", "from", "parameters", "forward MFLOP", "backward MFLOP"});
  if (shown.recomputed) row.emplace_back("of it recomputed");
  if (shown.times) row.insert(row.end(), {"forward us", "backward us"});
  row.insert(row.end(), {"share", "in flight", "stash kB", "kB"});
  return row;
}

std::string kilobytes(std::int64_t bytes) {
  return decimal_text(static_cast<double>(bytes) / 1e3, 1);
}

Row row_of(const StagePlanReport& stage, const Shown& shown) {
  Row row{std::to_string(stage.stage), std::to_string(stage.ipu)};
  if (shown.phases)
    row.insert(row.end(),
               {std::to_string(stage.phase), std::to_string(stage.forward_phase) + " | " +
                                                 std::to_string(stage.backward_phase)});
  row.insert(
      row.end(),
      {joined(stage.blocks, {}, ","), stage.first_layer, std::to_string(stage.parameters),
       decimal_text(stage.forward_flops / 1e6, 3), decimal_text(stage.backward_flops / 1e6, 3)});
  if (shown.recomputed) row.push_back(decimal_text(stage.recomputed_flops / 1e6, 3));
  if (shown.times)
    row.insert(row.end(), {decimal_text(stage.forward_seconds * 1e6, 1),
                           decimal_text(stage.backward_seconds * 1e6, 1)});
  row.insert(row.end(), {percent_text(stage.share), std::to_string(stage.in_flight_limit),
                         kilobytes(stage.stash_bytes), kilobytes(stage.bytes)});
  return row;
}

/// Returns a table with columns as wide as their widest cell. All cells are aligned to the right.
std::string table(const std::vector<Row>& rows) {
  std::vector<std::size_t> widths(rows[0].size());
  for (const Row& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  std::string text;
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i)
      text += std::string(i ? 2 : 0, ' ') + std::string(widths[i] - row[i].size(), ' ') + row[i];
    text += "\n";
  }
  return text;
}

std::string stages_table(const std::vector<StagePlanReport>& stages) {
  Shown shown;
  for (const StagePlanReport& stage : stages) {
    shown.phases = shown.phases || stage.phase >= 0;
    shown.recomputed = shown.recomputed || stage.recomputed_flops > 0;
    shown.times = shown.times || stage.forward_seconds + stage.backward_seconds > 0;
  }
  std::vector<Row> rows{heading(shown)};
  for (const StagePlanReport& stage : stages) rows.push_back(row_of(stage, shown));
  return table(rows);
}

std::string steps_text(const CompileReport& report) {
  std::vector<std::string> parts;
  for (const CompileStep& step : report.steps)
    parts.push_back(" " + step.name + " " + decimal_text(step.seconds * 1e3, 2) + " ms");
  return parts.empty() ? "" : ":" + joined(parts, {}, ",");
}

/// Returns how many kilobytes stages send each other, edge by edge, or an empty text for a single
/// stage.
std::string traffic_text(const CompileReport& report) {
  std::vector<std::string> parts;
  for (const EdgePlanReport& edge : report.edges)
    if (edge.from >= 0)
      parts.push_back(" " + std::to_string(edge.from) + " to " + std::to_string(edge.to) + " " +
                      kilobytes(edge.bytes));
  return parts.empty() ? "" : "sent per micro-batch, in kB:" + joined(parts, {}, ",") + "\n";
}

std::string output_text(const OutputPlanReport& output) {
  const std::string bytes = " " + std::to_string(output.bytes);
  if (output.kind == OutputKind::loss) return "loss" + bytes;
  return (output.kind == OutputKind::anchor ? "anchor " : "") + output.name + bytes;
}

std::string outputs_text(const CompileReport& report) {
  if (report.outputs.empty()) return "";
  return std::string("returned per ") + (report.call.training ? "step" : "run") +
         ", in bytes: " + joined(report.outputs, output_text) + "; " +
         std::to_string(report.output_bytes()) + " in all\n";
}

/// Returns how many lanes padding wastes, or an empty text for a model without lanes.
std::string lanes_text(const CompileReport& report) {
  if (report.lanes == 0) return "";
  return ", lanes wasted by padding " + std::to_string(report.wasted_lanes) + " of " +
         std::to_string(report.lanes);
}

std::string stages_line(const CompileReport& report) {
  std::vector<std::string> from;
  double slowest = 0;
  for (const StagePlanReport& stage : report.stages) {
    from.push_back((from.empty() ? "" : " ") + stage.first_layer);
    slowest = std::max(slowest, stage.share);
  }
  const std::string threads = report.threads == 0   ? "a thread each"
                              : report.threads == 1 ? "1 thread"
                                                    : std::to_string(report.threads) + " threads";
  return std::to_string(from.size()) + (from.size() == 1 ? " stage, from " : " stages, from ") +
         joined(from, {}, ",") + "; the slowest has " + percent_text(slowest) +
         " of the work; expected: " + decimal_text(report.expected_speedup, 1) +
         " times the throughput of one stage, on " + threads;
}

}  // namespace

std::string describe_stages(const CompileReport& report) {
  return on_hosts_thread("describe_stages", [&] { return stages_line(report); });
}

std::string to_string(const CompileReport& report) {
  return on_hosts_thread("the table of a report", [&] {
    std::string text =
        (report.from_cache ? "read from the plan cache in " : "compiled in ") +
        decimal_text(report.seconds * 1e3, 2) + " ms" + steps_text(report) + "\n" +
        to_string(report.call) + stages_table(report.stages) +
        (report.automatic_stages ? "stages auto: " : "stages: ") + stages_line(report) +
        "\nexpected utilization " + percent_text(report.expected_utilization) + ", full after " +
        std::to_string(report.ramp) + " micro-batches, layout conversions " +
        std::to_string(report.layout_conversions) + lanes_text(report) + ", threads per IPU " +
        std::to_string(report.threads_per_ipu) + "\n" + traffic_text(report) + outputs_text(report);
    for (const std::string& warning : report.warnings) text += "warning: " + warning + "\n";
    return text;
  });
}

}  // namespace penstock
