#include "apps/monitor/tables.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>

#include "apps/monitor/table.hpp"

namespace monitor {
namespace {

constexpr const char* unknown = "-";
// Larger numbers are shown with an exponent.
constexpr double longest = 1e15;
// No answer of a sound process has as many seconds.
constexpr double longest_time = 1e12;

std::string digits(double number, int behind_the_point) {
  std::array<char, 64> text{};
  const auto format =
      std::abs(number) < longest ? std::chars_format::fixed : std::chars_format::scientific;
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), number, format, behind_the_point);
  return {text.data(), end.ptr};
}

/// Returns `number` as a text with about three digits.
std::string short_number(double number) {
  return digits(number, number < 10 ? 2 : number < 100 ? 1 : 0);
}

std::string counted(std::size_t number, const std::string& what, const std::string& many) {
  return std::to_string(number) + ' ' + (number == 1 ? what : many);
}

/// Returns whether `number` is `before` + 1, which may be more than the type holds.
bool follows(std::int64_t number, std::int64_t before) {
  return number > before && number - 1 == before;
}

std::string memory_text(const Ipu& ipu) {
  const std::string used = bytes_text(ipu.memory_bytes);
  return ipu.memory_budget_bytes ? used + " of " + bytes_text(*ipu.memory_budget_bytes) : used;
}

std::string last_call_text(const RunningModel& model) {
  return model.last_call ? seconds_text(model.last_call->seconds) : unknown;
}

std::string call_text(const RunningModel& model, std::int64_t now_ns) {
  if (!model.in_call_since_ns) return "none";
  return seconds_text((static_cast<double>(now_ns) - static_cast<double>(*model.in_call_since_ns)) *
                      1e-9);
}

std::string loss_text(const RunningModel& model) {
  return model.last_call && model.last_call->loss ? digits(*model.last_call->loss, 4) : unknown;
}

std::string name_of(const RunningModel& model) {
  return model.name.empty() ? "#" + std::to_string(model.model) : model.name;
}

Table ipu_table(const std::vector<Observation>& processes) {
  Table table({{"PID", Align::right},
               {"Command", Align::left, true},
               {"Time", Align::right},
               {"User", Align::left, true},
               {"Model", Align::left, true},
               {"IPU", Align::right},
               {"Stages", Align::left},
               {"Busy", Align::right},
               {"Memory", Align::right},
               {"Last call", Align::right}});
  for (const Observation& process : processes)
    for (const RunningModel& model : process.models)
      for (const Ipu& ipu : model.ipus)
        table.add(
            {std::to_string(process.pid), process.facts.command,
             process.facts.running_seconds ? seconds_text(*process.facts.running_seconds) : unknown,
             process.facts.user, name_of(model) + ", " + model.mode, std::to_string(ipu.ipu),
             numbers_text(ipu.stages), digits(100 * ipu.busy, 0) + '%', memory_text(ipu),
             last_call_text(model)});
  return table;
}

Table model_table(const std::vector<Observation>& processes) {
  Table table({{"PID", Align::right},
               {"Model", Align::left, true},
               {"Mode", Align::left},
               {"Updates", Align::right},
               {"Samples", Align::right},
               {"Samples/s", Align::right},
               {"Loss", Align::right},
               {"In call for", Align::right}});
  for (const Observation& process : processes)
    for (const RunningModel& model : process.models)
      table.add({std::to_string(process.pid), name_of(model), model.mode,
                 std::to_string(model.updates), std::to_string(model.samples),
                 short_number(model.samples_per_second), loss_text(model),
                 call_text(model, process.now_ns)});
  return table;
}

std::string text_of(const PipelineWaits& pipeline) {
  std::string text = "  " + pipeline.mode + " of \"" + pipeline.name + "\", " +
                     (pipeline.in_call ? "in a call" : "between two calls") + ":\n";
  for (const Wait& wait : pipeline.waits)
    text += "    " + wait.actor + ' ' + wait.text +
            (wait.since_seconds ? ", for " + seconds_text(*wait.since_seconds) : "") + '\n';
  if (pipeline.asked == 0)
    text += "    nobody has answered within a second\n";
  else if (pipeline.silent > 0)
    text += "    " + std::to_string(pipeline.silent) + " of " + std::to_string(pipeline.asked) +
            " actors have not answered within a second\n";
  if (pipeline.cycle.empty()) return text;
  text += "    the waits form a cycle: ";
  for (const std::string& actor : pipeline.cycle) text += actor + " -> ";
  return text + pipeline.cycle.front() + '\n';
}

}  // namespace

std::vector<std::string> tables_of(const std::vector<Observation>& processes, std::size_t width) {
  std::size_t models = 0, ipus = 0;
  for (const Observation& process : processes) {
    models += process.models.size();
    for (const RunningModel& model : process.models) ipus += model.ipus.size();
  }
  const std::string heading =
      "penstock-monitor: " + counted(processes.size(), "process", "processes") + ", " +
      counted(models, "model", "models") + ", " + counted(ipus, "IPU", "IPUs");
  if (processes.empty()) return {"No process of this user has Penstock models on their IPUs."};
  std::vector<std::string> lines = ipu_table(processes).lines(heading, width);
  for (std::string& line : model_table(processes).lines("Models", width))
    lines.push_back(std::move(line));
  return lines;
}

std::string text_of(const std::vector<ProcessWaits>& processes) {
  std::string text;
  for (const ProcessWaits& process : processes) {
    text += "process " + std::to_string(process.pid) +
            (process.facts.command.empty() ? "" : " (" + cut(process.facts.command, 60) + ")") +
            ":\n";
    for (const PipelineWaits& pipeline : process.pipelines) text += text_of(pipeline);
  }
  return text.empty() ? "No process of this user has Penstock models on their IPUs.\n" : text;
}

std::string bytes_text(std::int64_t bytes) {
  constexpr const char* units[] = {" B", " KiB", " MiB", " GiB", " TiB"};
  auto number = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; number >= 1024 && unit + 1 < std::size(units); ++unit) number /= 1024;
  return (unit == 0 ? digits(number, 0) : short_number(number)) + units[unit];
}

std::string seconds_text(double seconds) {
  if (seconds < 1e-3) return short_number(seconds * 1e6) + " us";
  if (seconds < 1) return short_number(seconds * 1e3) + " ms";
  if (seconds < 60) return short_number(seconds) + " s";
  if (!(seconds < longest_time)) return "forever";
  const auto whole = static_cast<std::int64_t>(seconds);
  const std::string hours = whole >= 3600 ? std::to_string(whole / 3600) + 'h' : "";
  return hours + std::to_string(whole / 60 % 60) + 'm' + std::to_string(whole % 60) + 's';
}

std::string numbers_text(const std::vector<std::int64_t>& numbers) {
  std::string text;
  for (std::size_t begin = 0, end = 0; begin < numbers.size(); begin = end) {
    end = begin + 1;
    while (end < numbers.size() && follows(numbers[end], numbers[end - 1])) ++end;
    text += (text.empty() ? "" : ",") + std::to_string(numbers[begin]);
    if (end - begin > 1) text += (end - begin > 2 ? "-" : ",") + std::to_string(numbers[end - 1]);
  }
  return text;
}

}  // namespace monitor
