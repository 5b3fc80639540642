#include "penstock/options.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <span>
#include <type_traits>
#include <unordered_set>

#include "graph/values/hosts_thread.hpp"
#include "graph/values/number_range.hpp"
#include "graph/values/option_fields.hpp"
#include "graph/values/out_of_memory.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"
#include "penstock/ipu_order.hpp"

namespace penstock {
namespace {

constexpr std::array<std::string_view, 4> strategies{"pipelined", "sharded", "serial_phased",
                                                     "parallel_phased"};
constexpr std::array<std::string_view, 4> livenesses{"always_live", "off_ipu_after_forward",
                                                     "off_ipu_after_forward_no_overlap",
                                                     "off_ipu_after_each_phase"};
constexpr std::array<std::string_view, 3> stage_rules{"by_block", "same_as_ipu", "auto_increment"};
constexpr std::array<std::string_view, 3> schedules{"grouped", "interleaved", "sequential"};
constexpr std::array<std::string_view, 2> reductions{"mean", "sum"};
constexpr std::array<std::string_view, 2> reduction_strategies{"post", "running"};
constexpr std::array<std::string_view, 5> output_modes{"automatic", "final", "every_n", "all",
                                                       "sum"};
constexpr std::array<std::string_view, 6> log_levels{"automatic", "debug", "info",
                                                     "warning",   "error", "off"};

using Names = std::span<const std::string_view>;

template <class Enum>
std::string_view name_of(Names names, Enum value) noexcept {
  const auto index = static_cast<std::size_t>(value);
  return index < names.size() ? names[index] : "unknown";
}

template <class Enum>
void check_enumerator(const std::string& path, Enum value) {
  if (to_string(value) != "unknown") return;
  throw Error(Errc::invalid_argument, path + ": expected one of " +
                                          joined(enumerator_names<Enum>()) + ", got number " +
                                          std::to_string(static_cast<int>(value)));
}

void check_fields(const std::string& path, const OptionGroup auto& group);

/// Checks the field that messages call `path`. An enumerator must have a name, a number must be in
/// `range`, and in lists and groups each field is checked by itself.
template <class Field>
void check_field(const std::string& path, const Field& field, const NumberRange& range) {
  if constexpr (std::is_enum_v<Field>)
    check_enumerator(path, field);
  else if constexpr (std::is_arithmetic_v<Field>)
    check_number(path, static_cast<double>(field), range);
  else if constexpr (OptionGroup<Field>)
    check_fields(path, field);
}

template <class Item>
void check_field(const std::string& path, const std::vector<Item>& list, const NumberRange& range) {
  for (std::size_t i = 0; i < list.size(); ++i)
    check_field(path + '[' + std::to_string(i) + ']', list[i], range);
}

/// Checks each field of `group` by the rule in its row.
void check_fields(const std::string& path, const OptionGroup auto& group) {
  each_option(group, [&](const auto& row) {
    check_field(path + '.' + row.name, row.field, row.rule.range);
  });
}

// The check functions from here on check whether fields fit each other, which no single row says.

void check_stage(const std::string& field, const Stage& stage) {
  if (stage.blocks.empty())
    throw Error(Errc::invalid_argument, field + ".blocks: expected at least one block, got none");
  for (const std::string& block : stage.blocks)
    if (block.empty())
      throw Error(Errc::invalid_argument, field + ".blocks: expected names of blocks, got \"\"");
  if (stage.ipu != -1) check_number(field + ".ipu", stage.ipu, {.low = 0, .high = highest_ipu});
}

/// Refuses a stage rule if another option decides what the stages are, since the rule would change
/// nothing.
void check_stage_rule(const Topology& topology) {
  const std::string field = "options.topology.stage_rule";
  if (topology.stage_rule == StageRule::by_block) return;
  if (!topology.stages.empty() || topology.automatic_stages > 0)
    throw Error(Errc::invalid_argument,
                field + ": expected by_block, for options.topology." +
                    (topology.stages.empty() ? "automatic_stages" : "stages") +
                    " says what the stages are, got " +
                    std::string(to_string(topology.stage_rule)));
}

/// An OffloadClass describes a class of tensors that can be kept in the host store, and the option
/// that keeps it on the IPUs nevertheless.
struct OffloadClass {
  std::string_view name;
  Offload OffloadOptions::*offload;
  bool OnIpu::*stays;
};
constexpr OffloadClass offload_classes[] = {
    {"weights", &OffloadOptions::weights, &OnIpu::weights},
    {"activations", &OffloadOptions::activations, &OnIpu::activations},
    {"accumulators", &OffloadOptions::accumulators, &OnIpu::accumulators},
    {"optimizer_state", &OffloadOptions::optimizer_state, &OnIpu::optimizer_state}};

/// Refuses options that change nothing in a strategy without phases.
void check_unphased(const Topology& topology) {
  const std::string strategy =
      ", for the strategy is " + std::string(to_string(topology.strategy)) + ", got ";
  const auto refuse = [&](const char* field, const char* expected, const std::string& got) {
    throw Error(Errc::invalid_argument, std::string("options.topology.phased.") + field +
                                            ": expected " + expected + strategy + got);
  };
  const PhasedOptions& phased = topology.phased;
  if (!phased.phases.empty()) refuse("phases", "none", std::to_string(phased.phases.size()));
  if (phased.liveness != PhaseLiveness::always_live)
    refuse("liveness", "always_live", std::string(to_string(phased.liveness)));
  for (const OffloadClass& one : offload_classes)
    if (phased.on_ipu.*one.stays)
      refuse(("on_ipu." + std::string(one.name)).c_str(), "false", "true");
  if (phased.separate_backward_phase) refuse("separate_backward_phase", "false", "true");
  if (phased.batch_serial) refuse("batch_serial", "false", "true");
}

/// Checks that each phase has stages, and that no block is named twice.
void check_phases(const Topology& topology) {
  const std::string group = "options.topology.phased.phases";
  const auto& phases = topology.phased.phases;
  if (!phases.empty() && !topology.stages.empty())
    throw Error(Errc::invalid_argument, group +
                                            ": expected none, for options.topology.stages says "
                                            "what the stages are, got " +
                                            std::to_string(phases.size()));
  std::map<std::string_view, std::size_t> phase_of;
  for (std::size_t phase = 0; phase < phases.size(); ++phase) {
    const std::string field = group + "[" + std::to_string(phase) + "]";
    const auto& stages = phases[phase].stages;
    if (stages.empty())
      throw Error(Errc::invalid_argument, field + ".stages: expected at least one stage, got none");
    for (std::size_t stage = 0; stage < stages.size(); ++stage) {
      check_stage(field + ".stages[" + std::to_string(stage) + "]", stages[stage]);
      for (const std::string& block : stages[stage].blocks)
        if (const auto [found, first] = phase_of.emplace(block, phase); !first)
          throw Error(Errc::invalid_argument, field + ": block " + quoted_text(block) +
                                                  " is in phase " + std::to_string(found->second) +
                                                  (found->second == phase ? " twice" : " already") +
                                                  "; expected each block in one");
    }
  }
}

void check_liveness(const Topology& topology) {
  const std::string group = "options.topology.";
  const PhasedOptions& phased = topology.phased;
  if (topology.strategy == Strategy::parallel_phased &&
      phased.liveness > PhaseLiveness::off_ipu_after_forward)
    throw Error(Errc::invalid_argument,
                group +
                    "phased.liveness: expected always_live or off_ipu_after_forward, for phases "
                    "that are parallel copy while others compute, got " +
                    std::string(to_string(phased.liveness)));
  if (phased.separate_backward_phase && phased.liveness != PhaseLiveness::always_live)
    throw Error(Errc::invalid_argument,
                group +
                    "phased.separate_backward_phase: expected false, for backward has phases of "
                    "its own with the liveness " +
                    std::string(to_string(phased.liveness)) + ", got true");
}

void check_phased(const Topology& topology) {
  const std::string group = "options.topology.";
  if (!is_phased(topology.strategy)) return check_unphased(topology);
  check_phases(topology);
  if (topology.stage_rule != StageRule::by_block || topology.automatic_stages > 0)
    throw Error(Errc::invalid_argument,
                group +
                    (topology.automatic_stages > 0 ? "automatic_stages: expected 0"
                                                   : "stage_rule: expected by_block") +
                    ", for the phases of " + std::string(to_string(topology.strategy)) +
                    " are explicit (options.topology.phased.phases, options.topology.stages, or "
                    "the model's blocks), got " +
                    (topology.automatic_stages > 0 ? std::to_string(topology.automatic_stages)
                                                   : std::string(to_string(topology.stage_rule))));
  check_liveness(topology);
}

void check(const Topology& topology) {
  const std::string group = "options.topology.";
  for (std::size_t i = 0; i < topology.stages.size(); ++i)
    check_stage(group + "stages[" + std::to_string(i) + "]", topology.stages[i]);
  check_stage_rule(topology);
  check_phased(topology);
  if (topology.automatic_stages > 0 && !topology.stages.empty())
    throw Error(Errc::invalid_argument, group + "automatic_stages: expected 0, for " + group +
                                            "stages says what the stages are, got " +
                                            std::to_string(topology.automatic_stages));
  if (topology.replication_factor % topology.input_group_size != 0)
    throw Error(Errc::invalid_argument,
                group + "input_group_size: expected a divisor of the replication factor, " +
                    std::to_string(topology.replication_factor) + ", got " +
                    std::to_string(topology.input_group_size));
}

void check(const TrainingOptions& training) {
  if (training.reduction_strategy == ReductionStrategy::running &&
      training.reduction != Reduction::mean)
    throw Error(Errc::invalid_argument,
                "options.training.reduction_strategy: expected post, as the reduction is sum, got "
                "running");
  if (!training.recompute && !training.recompute_stages.empty())
    throw Error(Errc::invalid_argument,
                "options.training.recompute_stages: expected none, for options.training.recompute "
                "is false, got " +
                    std::to_string(training.recompute_stages.size()));
}

/// Checks that a batch-serial turn has no more micro-batches than stages can hold, because all
/// micro-batches of such a turn are in flight at the same time.
void check_turn(const Options& options) {
  constexpr int most = 1 << 20;
  if (options.topology.phased.batch_serial && options.training.gradient_accumulation > most)
    throw Error(Errc::invalid_argument,
                "options.training.gradient_accumulation: expected at most " + std::to_string(most) +
                    ", for options.topology.phased.batch_serial keeps all micro-batches of a "
                    "window, got " +
                    std::to_string(options.training.gradient_accumulation));
}

/// Checks an anchor. `is_first` says that no anchor before this one has the same name.
void check_anchor(const std::string& field, const Anchor& anchor, bool is_first) {
  if (anchor.name.empty() || !is_first)
    throw Error(Errc::invalid_argument,
                field + ".name: expected a name of its own, got " + quoted_text(anchor.name));
  if (anchor.tensor.empty())
    throw Error(Errc::invalid_argument, field + ".tensor: expected a layer's name, got \"\"");
}

void check(const OutputOptions& output) {
  std::unordered_set<std::string_view> names;
  for (std::size_t i = 0; i < output.anchors.size(); ++i)
    check_anchor("options.output.anchors[" + std::to_string(i) + "]", output.anchors[i],
                 names.insert(output.anchors[i].name).second);
}

void check_on_ipu(const Options& options) {
  for (const OffloadClass& one : offload_classes)
    if (options.topology.phased.on_ipu.*one.stays && (options.training.offload.*one.offload).on)
      throw Error(Errc::invalid_argument, "options.topology.phased.on_ipu." +
                                              std::string(one.name) +
                                              ": expected false, for options.training.offload." +
                                              std::string(one.name) + ".on is true, got true");
}

/// Checks the number of samples of a step, which is the product of four ints. It is computed in
/// double, where it cannot overflow and is exact up to the limit.
void check_samples_per_step(const Options& options) {
  constexpr auto limit = std::numeric_limits<std::int32_t>::max();
  const double samples = double{1} * options.batch_size * options.device_iterations *
                         options.training.gradient_accumulation *
                         options.topology.replication_factor;
  check_number(
      "options: batch_size * device_iterations * gradient_accumulation * "
      "replication_factor",
      samples, {.low = 1, .high = limit});
}

std::string_view trim(std::string_view text) noexcept {
  constexpr std::string_view blanks = " \t";
  const auto begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

/// Returns the parts of `text` between the separators, without the blanks around each part. There
/// is one part more than there are separators.
std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (auto end = text.find(separator); end != std::string_view::npos; end = text.find(separator)) {
    parts.push_back(trim(text.substr(0, end)));
    text.remove_prefix(end + 1);
  }
  parts.push_back(trim(text));
  return parts;
}

[[noreturn]] void refuse_stages(std::string_view text, const std::string& why) {
  throw Error(Errc::invalid_argument, "stages " + quoted_text(text) +
                                          ": expected a text such as \"B1,B2|B3,B4\", but " + why);
}

}  // namespace

std::string_view to_string(Strategy value) noexcept {
  return name_of(strategies, value);
}

std::string_view to_string(StageRule value) noexcept {
  return name_of(stage_rules, value);
}

std::string_view to_string(PhaseLiveness value) noexcept {
  return name_of(livenesses, value);
}

std::string_view to_string(PipelineSchedule value) noexcept {
  return name_of(schedules, value);
}

std::string_view to_string(Reduction value) noexcept {
  return name_of(reductions, value);
}

std::string_view to_string(ReductionStrategy value) noexcept {
  return name_of(reduction_strategies, value);
}

std::string_view to_string(OutputMode value) noexcept {
  return name_of(output_modes, value);
}

std::string_view to_string(LogLevel value) noexcept {
  return name_of(log_levels, value);
}

OffloadOptions offload_of(const Options& options) {
  OffloadOptions offload = options.training.offload;
  if (is_phased(options.topology.strategy))
    for (const OffloadClass& one : offload_classes)
      (offload.*one.offload).on |= !(options.topology.phased.on_ipu.*one.stays);
  return offload;
}

Phase Phase::on(const std::vector<int>& ipus) const {
  return or_out_of_memory("Phase::on", [&] {
    if (ipus.size() != stages.size())
      throw Error(Errc::invalid_argument, "phase: expected an IPU for each of its " +
                                              count_text(std::ssize(stages), "stage") + ", got " +
                                              count_text(std::ssize(ipus), "IPU"));
    Phase placed = *this;
    for (std::size_t i = 0; i < ipus.size(); ++i) placed.stages[i].ipu = ipus[i];
    return placed;
  });
}

void Options::validate() const {
  on_hosts_thread("Options::validate", [&] {
    check_fields("options", *this);
    check(topology);
    check(training);
    check_on_ipu(*this);
    check(output);
    check_turn(*this);
    check_samples_per_step(*this);
  });
}

std::vector<Stage> parse_stages(std::string_view text) {
  return or_out_of_memory("parse_stages", [&] {
    std::vector<Stage> stages;
    for (const std::string_view stage : split(text, '|')) {
      const std::string number = std::to_string(stages.size());
      if (stage.empty()) refuse_stages(text, "stage " + number + " has no block");
      Stage parsed;
      for (const std::string_view block : split(stage, ',')) {
        if (block.empty()) refuse_stages(text, "stage " + number + " has a block without a name");
        parsed.blocks.emplace_back(block);
      }
      stages.push_back(std::move(parsed));
    }
    return stages;
  });
}

std::vector<Phase> parse_phases(std::string_view text) {
  return or_out_of_memory("parse_phases", [&] {
    std::vector<Phase> phases;
    for (const std::string_view phase : split(text, ';')) {
      if (phase.empty())
        throw Error(Errc::invalid_argument,
                    "phases " + quoted_text(text) +
                        ": expected a text such as \"B1|B2;B3\", but phase " +
                        std::to_string(phases.size()) + " has no stage");
      phases.emplace_back(parse_stages(phase));
    }
    return phases;
  });
}

}  // namespace penstock
