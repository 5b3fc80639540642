#include "apps/report/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <vector>

namespace report {
namespace {

struct Change {
  const Figure* before = nullptr;
  const Figure* after = nullptr;
  double factor = 1;  ///< Is the value of `after` divided by the value of `before`.

  double size() const { return std::abs(std::log(factor)); }
};

std::string formatted(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string text_of(const Figure& figure) {
  switch (figure.unit) {
    case Unit::seconds:
      return figure.value < 1e-3 ? formatted("%.2f us", figure.value * 1e6)
             : figure.value < 1  ? formatted("%.3f ms", figure.value * 1e3)
                                 : formatted("%.3f s", figure.value);
    case Unit::bytes:
      return figure.value < 1e6 ? formatted("%.1f kB", figure.value / 1e3)
                                : formatted("%.2f MB", figure.value / 1e6);
    case Unit::share_of_idleness:
      return formatted("%.1f %%", 100 * figure.value);
    case Unit::samples_per_second:
      return formatted("%.0f samples/s", figure.value);
  }
  return "";
}

/// Returns the name of the group that a change belongs to.
std::string group_of(const Change& change) {
  const bool more = change.factor > 1;
  switch (change.after->unit) {
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

/// Returns `after` divided by `before`. A tiny number is added to both, so that neither is zero.
double factor_between(double before, double after) {
  constexpr double tiny = 1e-12;
  return (after + tiny) / (before + tiny);
}

std::string line_of(const Change& change) {
  const std::string factor = change.before->value > 0 && change.after->value > 0
                                 ? formatted(" (%.2f times)", change.factor)
                                 : "";
  return "  " + change.after->name + ": " + text_of(*change.before) + " -> " +
         text_of(*change.after) + factor + "\n";
}

std::string only_in(const char* title, std::span<const Figure> these,
                    std::span<const Figure> others) {
  std::string text;
  for (const Figure& figure : these)
    if (std::ranges::find(others, figure.name, &Figure::name) == others.end())
      text += "  " + figure.name + ": " + text_of(figure) + "\n";
  return text.empty() ? text : std::string(title) + "\n" + text;
}

}  // namespace

std::string compare(std::span<const Figure> before, std::span<const Figure> after,
                    double least_change) {
  std::map<std::string, std::vector<Change>> groups;
  std::size_t same = 0;
  for (const Figure& figure : after) {
    const auto match = std::ranges::find(before, figure.name, &Figure::name);
    if (match == before.end()) continue;
    const Change change{&*match, &figure, factor_between(match->value, figure.value)};
    if (change.size() <= std::log1p(least_change))
      ++same;
    else
      groups[group_of(change)].push_back(change);
  }
  std::string text;
  for (const char* group : {"Faster", "Slower", "Smaller", "Larger", "Less idle", "More idle"}) {
    auto& changes = groups[group];
    std::ranges::stable_sort(changes, std::greater<>{}, &Change::size);
    if (!changes.empty()) text += std::string(group) + "\n";
    for (const Change& change : changes) text += line_of(change);
  }
  text += only_in("Only in the first", before, after);
  text += only_in("Only in the second", after, before);
  return text + std::to_string(same) + " figures differ by at most " +
         formatted("%g", 100 * least_change) + " %.\n";
}

}  // namespace report
