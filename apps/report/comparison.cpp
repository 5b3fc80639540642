#include "apps/report/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace report {
namespace {

struct GroupKind {
  const char* title;
  bool better;
};
constexpr GroupKind kinds[] = {{"Faster", true},  {"Slower", false},   {"Smaller", true},
                               {"Larger", false}, {"Less idle", true}, {"More idle", false}};

std::string_view title_of(const Change& change) {
  const bool more = change.factor() > 1;
  switch (change.unit) {
    case Unit::seconds:
      return more ? "Slower" : "Faster";
    case Unit::samples_per_second:
      return more ? "Faster" : "Slower";
    case Unit::bytes:
      return more ? "Larger" : "Smaller";
    case Unit::share_of_idleness:
      return more ? "More idle" : "Less idle";
  }
  return "";
}

double size_of(const Change& change) {
  return std::abs(std::log(change.factor()));
}

std::vector<Figure> only_in(std::span<const Figure> these, std::span<const Figure> others) {
  std::set<std::string_view> names;
  for (const Figure& figure : others) names.insert(figure.name);
  std::vector<Figure> only;
  for (const Figure& figure : these)
    if (!names.contains(figure.name)) only.push_back(figure);
  return only;
}

std::string lines_of(const char* title, std::span<const Figure> figures) {
  std::string text;
  for (const Figure& figure : figures)
    text += "  " + figure.name + ": " + value_text(figure.unit, figure.value) + "\n";
  return text.empty() ? text : std::string(title) + "\n" + text;
}

std::string line_of(const Change& change) {
  const std::string factor =
      change.before > 0 && change.after > 0 ? " (" + factor_text(change.factor()) + ")" : "";
  return "  " + change.name + ": " + value_text(change.unit, change.before) + " -> " +
         value_text(change.unit, change.after) + factor + "\n";
}

}  // namespace

double Change::factor() const {
  constexpr double tiny = 1e-12;
  return (after + tiny) / (before + tiny);
}

Comparison compare(std::span<const Figure> before, std::span<const Figure> after,
                   double least_change) {
  Comparison comparison{.least_change = least_change,
                        .groups = {},
                        .same = {},
                        .only_before = only_in(before, after),
                        .only_after = only_in(after, before)};
  std::map<std::string_view, double> first;
  for (const Figure& figure : before) first.emplace(figure.name, figure.value);
  std::map<std::string_view, std::vector<Change>> groups;
  for (const Figure& figure : after) {
    const auto found = first.find(figure.name);
    if (found == first.end()) continue;
    Change change{figure.name, figure.unit, found->second, figure.value};
    auto& place =
        size_of(change) <= std::log1p(least_change) ? comparison.same : groups[title_of(change)];
    place.push_back(std::move(change));
  }
  for (const auto& [title, better] : kinds) {
    std::ranges::stable_sort(groups[title], std::greater<>{}, size_of);
    if (!groups[title].empty())
      comparison.groups.push_back({title, better, std::move(groups[title])});
  }
  return comparison;
}

std::string same_text(const Comparison& comparison) {
  return std::to_string(comparison.same.size()) + " figures differ by at most " +
         percent_text(comparison.least_change) + ".";
}

std::string text_of(const Comparison& comparison) {
  std::string text;
  for (const ChangeGroup& group : comparison.groups) {
    text += group.title + "\n";
    for (const Change& change : group.changes) text += line_of(change);
  }
  return text + lines_of("Only in the first", comparison.only_before) +
         lines_of("Only in the second", comparison.only_after) + same_text(comparison) + "\n";
}

}  // namespace report
