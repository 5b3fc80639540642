#include "apps/trainer/options/list_kind.hpp"

#include <string_view>

#include "apps/trainer/options/read_value.hpp"

namespace trainer {
namespace {

/// Reads whole numbers from 0 to `most` that are separated by commas. `or_word` says what else the
/// text may be, as in "all, or "; a refusal puts it in front of the expected numbers.
std::vector<int> read_number_list(std::string_view text, int most,
                                  const std::string& or_word = "") {
  std::vector<int> numbers;
  std::size_t begin = 0, comma = 0;
  do {
    comma = text.find(',', begin);
    int number = -1;
    if (!reads_as(text.substr(begin, comma - begin), number) || number < 0 || number > most)
      refuse_value(
          or_word + "whole numbers from 0 to " + std::to_string(most) + ", separated by commas",
          text);
    numbers.push_back(number);
    begin = comma + 1;
  } while (comma != text.npos);
  return numbers;
}

std::string show_number_list(const std::vector<int>& numbers) {
  std::vector<std::string> words;
  for (const int number : numbers) words.push_back(std::to_string(number));
  return joined(words, ",");
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

ValueKind<StagesOption> stage_list(const std::string& value_name, int most) {
  return {value_name, [=](std::string_view text) { return read_stages(text, most); },
          show_stages_option};
}

ValueKind<std::vector<penstock::Phase>> phase_list(const std::string& value_name) {
  return {value_name, penstock::parse_phases, show_phases};
}

}  // namespace trainer
