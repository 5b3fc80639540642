#include "graph/compile/advice.hpp"

namespace penstock::graph {
namespace {

/// Returns `text` with `name` in front, the name of the option that the text is about. If `name` is
/// empty, returns `text` alone.
std::string opened(std::string_view name, const std::string& text) {
  return name.empty() ? text : std::string(name) + ": " + text;
}

/// Returns the names of the options of `remedy` in brackets, or an empty text if none of these
/// options has a name.
std::string in_brackets(const Remedy& remedy, OptionNames names) {
  std::string text;
  const auto add = [&](const std::string& before, Option option) {
    const std::string_view name = names(option);
    if (!name.empty()) text += (text.empty() ? "" : ", ") + before + std::string(name);
  };
  for (const Option option : remedy.turned_on) add("", option);
  for (const Option option : remedy.turned_off) add("not ", option);
  return text.empty() ? "" : " (" + text + ")";
}

}  // namespace

std::string worded(const Note& note, OptionNames names) {
  return opened(note.about ? names(*note.about) : "", note.text);
}

std::string worded(const MemoryAdvice& advice, OptionNames names) {
  std::string text = opened(names(Option::ipu_memory), advice.lack) + "; what would help: ";
  for (const Remedy& remedy : advice.remedies)
    text += remedy.text + in_brackets(remedy, names) +
            (remedy.consequence.empty() ? "" : ", " + remedy.consequence) + "; or ";
  return text + advice.last_remedy;
}

}  // namespace penstock::graph
