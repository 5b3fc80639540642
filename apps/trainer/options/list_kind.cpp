#include "apps/trainer/options/list_kind.hpp"

#include <optional>
#include <string_view>

#include "apps/trainer/options/read_value.hpp"

namespace trainer {
namespace {

/// Returns the parts of `text` that commas separate.
std::vector<std::string_view> parts_of(std::string_view text) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0, comma = 0;
  do {
    comma = text.find(',', begin);
    parts.push_back(text.substr(begin, comma - begin));
    begin = comma + 1;
  } while (comma != text.npos);
  return parts;
}

/// Reads whole numbers from 0 to `most` that are separated by commas. `or_word` says what else the
/// text may be, as in "all, or "; a refusal puts it in front of the expected numbers.
std::vector<int> read_number_list(std::string_view text, int most,
                                  const std::string& or_word = "") {
  std::vector<int> numbers;
  for (const std::string_view part : parts_of(text)) {
    int number = -1;
    if (!reads_as(part, number) || number < 0 || number > most)
      refuse_value(
          or_word + "whole numbers from 0 to " + std::to_string(most) + ", separated by commas",
          text);
    numbers.push_back(number);
  }
  return numbers;
}

std::string show_number_list(const std::vector<int>& numbers) {
  std::vector<std::string> words;
  for (const int number : numbers) words.push_back(std::to_string(number));
  return joined(words, ",");
}

/// Reads the name of a layer, or one with an equals sign and an IPU from 0 to `most` behind it.
/// Returns nothing if `text` is neither.
std::optional<BlockStart> read_block_start(std::string_view text, int most) {
  const std::size_t sign = text.find('=');
  BlockStart start{.layer = std::string(text.substr(0, sign))};
  if (start.layer.empty()) return std::nullopt;
  if (sign == text.npos) return start;
  int& ipu = start.ipu.emplace(-1);
  const bool is_ipu = reads_as(text.substr(sign + 1), ipu) && ipu >= 0 && ipu <= most;
  return is_ipu ? std::optional(start) : std::nullopt;
}

std::vector<BlockStart> read_block_starts(std::string_view text, int most) {
  std::vector<BlockStart> starts;
  for (const std::string_view part : parts_of(text)) {
    const std::optional<BlockStart> start = read_block_start(part, most);
    if (!start)
      refuse_value("a layer, as in layer4, or a layer and an IPU from 0 to " +
                       std::to_string(most) + ", as in layer4=1",
                   part);
    starts.push_back(*start);
  }
  return starts;
}

std::string show_block_starts(const std::vector<BlockStart>& starts) {
  std::vector<std::string> words;
  for (const BlockStart& start : starts)
    words.push_back(start.layer + (start.ipu ? '=' + std::to_string(*start.ipu) : ""));
  return joined(words, ",");
}

std::vector<std::string> read_names(std::string_view text, const std::string& expected) {
  std::vector<std::string> names;
  for (const std::string_view part : parts_of(text)) {
    if (part.empty() || part.find('=') != part.npos) refuse_value(expected, part);
    names.emplace_back(part);
  }
  return names;
}

constexpr std::string_view all_stages = "all";

constexpr std::string_view automatic = "auto";

StagesOption read_stages(std::string_view text, int most) {
  if (text == automatic) return {};
  const std::string prefix = std::string(automatic) + ':';
  if (!text.starts_with(prefix)) return {.stages = penstock::parse_stages(text)};
  int count = 0;
  if (!reads_as(text.substr(prefix.size()), count) || count < 1 || count > most)
    refuse_value("auto:N with a whole number from 1 to " + std::to_string(most), text);
  return {.automatic = count};
}

std::string show_stages(const std::vector<penstock::Stage>& list) {
  std::vector<std::string> stages;
  for (const penstock::Stage& stage : list) stages.push_back(joined(stage.blocks, ","));
  return joined(stages, "|");
}

std::string show_phases(const std::vector<penstock::Phase>& list) {
  std::vector<std::string> phases;
  for (const penstock::Phase& phase : list) phases.push_back(show_stages(phase.stages));
  return joined(phases, ";");
}

std::string show_stages_option(const StagesOption& option) {
  if (option.automatic) return std::string(automatic) + ':' + std::to_string(*option.automatic);
  if (option.stages.empty()) return std::string(automatic);
  return show_stages(option.stages);
}

}  // namespace

ValueKind<std::vector<int>> number_list(const std::string& value_name, int most) {
  return {value_name, [=](std::string_view text) { return read_number_list(text, most); },
          show_number_list};
}

ValueKind<std::vector<int>> stage_numbers(const std::string& value_name, int most) {
  const auto read = [=](std::string_view text) {
    return text == all_stages ? std::vector<int>{}
                              : read_number_list(text, most, std::string(all_stages) + ", or ");
  };
  const auto show = [](const std::vector<int>& numbers) {
    return numbers.empty() ? std::string(all_stages) : show_number_list(numbers);
  };
  return {value_name, read, show};
}

ValueKind<std::vector<BlockStart>> block_starts(const std::string& value_name, int most) {
  return {value_name, [=](std::string_view text) { return read_block_starts(text, most); },
          show_block_starts};
}

ValueKind<std::vector<std::string>> name_list(const std::string& value_name,
                                              const std::string& expected) {
  return {value_name, [=](std::string_view text) { return read_names(text, expected); },
          [](const std::vector<std::string>& names) { return joined(names, ","); }};
}

ValueKind<StagesOption> stage_list(const std::string& value_name, int most) {
  return {value_name, [=](std::string_view text) { return read_stages(text, most); },
          show_stages_option};
}

ValueKind<std::vector<penstock::Phase>> phase_list(const std::string& value_name) {
  return {value_name, penstock::parse_phases, show_phases};
}

}  // namespace trainer
