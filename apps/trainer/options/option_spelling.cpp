#include "apps/trainer/options/option_spelling.hpp"

#include <algorithm>
#include <functional>
#include <string_view>
#include <vector>

#include "apps/trainer/options/option_table.hpp"

namespace trainer {
namespace {

struct Spelling {
  std::string engine_text;
  std::string option_text;
};

/// Returns the option that sets the engine's field called `field`, or null if there is no such
/// option.
const OptionRow* option_that_sets(std::string_view field) {
  for (const OptionGroup& group : option_groups())
    for (const OptionRow& row : group.rows)
      if (std::ranges::count(row.engine_fields, field, &EngineField::name) > 0) return &row;
  return nullptr;
}

/// Returns the text that replaces the name of `field` in a message. `row` is the option that sets
/// `field`. If `row` sets several fields, the option that sets the group of `field` comes first:
/// "--offload-weights, --offload-minimum".
std::string option_text(const OptionRow& row, const EngineField& field) {
  const std::string option = "--" + row.name + (field.value.empty() ? "" : ' ' + field.value);
  const OptionRow* const group = option_that_sets(field.name.substr(0, field.name.rfind('.')));
  return row.engine_fields.size() > 1 && group ? "--" + group->name + ", " + option : option;
}

/// Returns all replacements. They are sorted by length, so that a text which is a part of another
/// text comes after the other one.
std::vector<Spelling> make_spellings() {
  // The actors' messages name the field threads_per_ipu without its group.
  std::vector<Spelling> spellings{{"threads_per_ipu", "--threads-per-ipu"}};
  for (const OptionGroup& group : option_groups())
    for (const OptionRow& row : group.rows)
      for (const EngineField& field : row.engine_fields) {
        spellings.push_back({field.name, option_text(row, field)});
        // A switch for a class of tensors sets the field `on` of the class.
        if (row.value_name.empty())
          spellings.push_back({field.name + ".on is true", "--" + row.name + " is given"});
      }
  std::ranges::stable_sort(spellings, std::ranges::greater(),
                           [](const Spelling& spelling) { return spelling.engine_text.size(); });
  return spellings;
}

/// Returns whether a name in `text` ends at `end`, because no letter of a name follows there.
bool ends_there(const std::string& text, std::size_t end) {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz_";
  return end == text.size() || letters.find(text[end]) == letters.npos;
}

}  // namespace

std::string with_option_names(std::string text) {
  static const std::vector<Spelling> spellings = make_spellings();
  for (const auto& [engine_text, option_text] : spellings)
    for (auto at = text.find(engine_text); at != text.npos; at = text.find(engine_text, at + 1))
      if (ends_there(text, at + engine_text.size()))
        text.replace(at, engine_text.size(), option_text);
  return text;
}

// A phased strategy can be refused for an IPU only if --ipus or --begin-block names the IPU: the
// networks' own blocks ask for no IPU, and each phase gets a right one by default.
std::string stages_refusal(const PipelineOptions& options, const std::string& refusal) {
  const std::string text = with_option_names(refusal);
  if (text != refusal) return text;
  const bool of_places = penstock::is_phased(options.strategy) && text.find(" on IPU") != text.npos;
  if (of_places && options.ipus) return "--ipus: " + text;
  if (of_places && options.begin_block) return "--begin-block: " + text;
  const bool without_blocks = text.ends_with("the model has no blocks");
  return (options.phases ? "--phases: " : "--stages: ") + text +
         (without_blocks ? "; --begin-block begins blocks at its layers" : "");
}

}  // namespace trainer
