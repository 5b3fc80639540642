#include "penstock/report.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace penstock {
namespace {

using Row = std::array<std::string, 8>;

std::string decimal(double number, int digits) {
  std::array<char, 400> text{};  // the largest double has 309 digits
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number,
                                 std::chars_format::fixed, digits)
                       .ptr;
  return {text.data(), end};
}

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ",") + part;
  return text;
}

Row row_of(const StagePlanReport& stage) {
  return {std::to_string(stage.stage),
          std::to_string(stage.ipu),
          joined(stage.blocks),
          std::to_string(stage.parameters),
          decimal(stage.forward_flops / 1e6, 3),
          decimal(stage.backward_flops / 1e6, 3),
          std::to_string(stage.in_flight_limit),
          decimal(static_cast<double>(stage.bytes) / 1e3, 1)};
}

/// Columns as wide as their widest cell, numbers to the right.
std::string table(const std::vector<Row>& rows) {
  std::array<std::size_t, std::tuple_size_v<Row>> widths{};
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

std::string phases(const CompileReport& report) {
  std::vector<std::string> parts;
  for (const CompilePhase& phase : report.phases)
    parts.push_back(" " + phase.name + " " + decimal(phase.seconds * 1e3, 2) + " ms");
  return parts.empty() ? "" : ":" + joined(parts);
}

}  // namespace

std::string to_string(const CompileReport& report) {
  std::vector<Row> rows{{"stage", "IPU", "blocks", "parameters", "forward MFLOP", "backward MFLOP",
                         "in flight", "kB"}};
  for (const StagePlanReport& stage : report.stages) rows.push_back(row_of(stage));
  std::string text = "compiled in " + decimal(report.seconds * 1e3, 2) + " ms" + phases(report) +
                     "\n" + table(rows) + "expected utilisation " +
                     decimal(report.expected_utilization * 100, 0) + " %, layout conversions " +
                     std::to_string(report.layout_conversions) + "\n";
  for (const std::string& warning : report.warnings) text += "warning: " + warning + "\n";
  return text;
}

}  // namespace penstock
