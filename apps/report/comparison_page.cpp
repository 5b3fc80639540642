#include "apps/report/comparison_page.hpp"

#include <algorithm>
#include <cmath>
#include <span>

namespace report {
namespace {

constexpr const char* head = R"(<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Two profiles</title>
<style>
:root { color-scheme: light dark; --first: #8a8f98; --better: #1a7f4b; --worse: #c2402e; }
body { font: 15px/1.45 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin: 1.8rem 0 .4rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .25rem .6rem .25rem 0; vertical-align: top; }
tr + tr td { border-top: 1px solid color-mix(in srgb, currentColor 15%, transparent); }
td { overflow-wrap: anywhere; } td.number { white-space: nowrap; text-align: right; }
td.bars { width: 30%; } .bar { height: .5rem; margin: .3rem 0; min-width: 1px; }
.first { background: var(--first); } .same { background: var(--first); }
.better { background: var(--better); } .worse { background: var(--worse); }
.key { display: inline-block; width: .8rem; height: .8rem; margin: 0 .3rem 0 1rem; }
@media (max-width: 40rem) { td.bars, th.bars { display: none; } }
</style>
)";

std::string escaped(const std::string& text) {
  std::string html;
  for (const char c : text) {
    if (c == '&')
      html += "&amp;";
    else if (c == '<')
      html += "&lt;";
    else if (c == '>')
      html += "&gt;";
    else if (c == '"')
      html += "&quot;";
    else
      html += c;
  }
  return html;
}

std::string bar(const char* kind, double value, double most) {
  const double share = most > 0 ? std::clamp(value / most, 0.0, 1.0) : 0;
  return std::string(R"(<div class="bar )") + kind + R"(" style="width:)" +
         std::to_string(std::lround(100 * share)) + R"(%"></div>)";
}

std::string row(const Change& change, const char* kind) {
  const double most = std::max(change.before, change.after);
  const bool both = change.before > 0 && change.after > 0;
  return "<tr><td>" + escaped(change.name) + R"(</td><td class="number">)" +
         value_text(change.unit, change.before) + R"(</td><td class="number">)" +
         value_text(change.unit, change.after) + R"(</td><td class="number">)" +
         (both ? factor_text(change.factor()) : "") + R"(</td><td class="bars">)" +
         bar("first", change.before, most) + bar(kind, change.after, most) + "</td></tr>\n";
}

std::string table(std::span<const Change> changes, const char* kind) {
  std::string html =
      R"(<table><thead><tr><th>Figure</th><th>Before</th><th>After</th><th>Factor</th>)"
      R"(<th class="bars"></th></tr></thead><tbody>)"
      "\n";
  for (const Change& change : changes) html += row(change, kind);
  return html + "</tbody></table>\n";
}

std::string list(const std::string& title, std::span<const Figure> figures) {
  if (figures.empty()) return "";
  std::string html = "<h2>" + title + "</h2>\n<ul>\n";
  for (const Figure& figure : figures)
    html +=
        "<li>" + escaped(figure.name) + ": " + value_text(figure.unit, figure.value) + "</li>\n";
  return html + "</ul>\n";
}

}  // namespace

std::string comparison_page(const Comparison& comparison, const std::string& before,
                            const std::string& after) {
  std::string html = head;
  html += "<h1>" + escaped(before) + " → " + escaped(after) + "</h1>\n";
  html += R"(<p><span class="key first"></span>before<span class="key better"></span>better after)"
          R"(<span class="key worse"></span>worse after</p>)"
          "\n";
  for (const ChangeGroup& group : comparison.groups)
    html +=
        "<h2>" + group.title + "</h2>\n" + table(group.changes, group.better ? "better" : "worse");
  html += list("Only before", comparison.only_before) + list("Only after", comparison.only_after);
  html += "<details><summary>" + same_text(comparison) + "</summary>\n" +
          table(comparison.same, "same") + "</details>\n</html>\n";
  return html;
}

}  // namespace report
