#include "penstock/nearest_name.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace penstock {
namespace {

constexpr std::size_t longest_name = 64;  // A name of more bytes is not near to any name.
// A part of fewer letters does not stand for a whole name.
constexpr std::size_t shortest_part = 4;
constexpr std::size_t far = std::numeric_limits<std::size_t>::max();

bool separates(char c) {
  return c == '-' || c == '_';
}

// Returns `c` in lower case, whatever the process's locale is.
char lower(char c) {
  return 'A' <= c && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

/// Returns the words of a name in lower case.
std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words(1);
  for (const char c : name) {
    if (!separates(c))
      words.back() += lower(c);
    else if (!words.back().empty())
      words.emplace_back();
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

std::string written_together(const std::vector<std::string>& words) {
  return std::accumulate(words.begin(), words.end(), std::string());
}

std::string initials(const std::vector<std::string>& words) {
  std::string letters;
  for (const std::string& word : words) letters += word.front();
  return letters;
}

/// Returns how many letters of `from` have to be inserted, removed or replaced to get `to`
/// (Levenshtein's distance).
std::size_t edits(const std::string& from, const std::string& to) {
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < to.size(); ++j) {
      const std::size_t replaced = diagonal + (from[i] != to[j] ? 1 : 0);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

/// Returns whether `known` begins with at least the first three quarters of `name`.
bool begins(const std::string& name, const std::string& known) {
  const auto common =
      static_cast<std::size_t>(std::ranges::mismatch(name, known).in1 - name.begin());
  return common >= shortest_part && 4 * common >= 3 * name.size();
}

/// Returns how far `name` is from the name with the words `known`: the nearer, the smaller the
/// number; `far` if the two names are not alike.
std::size_t distance(const std::string& name, const std::vector<std::string>& known) {
  const std::string whole = written_together(known);
  const std::size_t allowed = std::max<std::size_t>(1, name.size() / 3);
  if (known.size() > 1 && initials(known) == name) return 0;
  if (const std::size_t count = edits(name, whole); count <= allowed) return count;
  if (name.size() >= shortest_part && std::ranges::count(known, name) > 0) return allowed + 1;
  return begins(name, whole) ? allowed + 2 : far;
}

}  // namespace

std::string_view nearest_name(std::string_view name, std::span<const std::string_view> known) {
  const std::string letters = written_together(words_of(name));
  std::string_view nearest;
  std::size_t least = far;
  if (letters.empty() || name.size() > longest_name) return nearest;
  for (const std::string_view candidate : known) {
    const std::size_t found = distance(letters, words_of(candidate));
    if (found < least) nearest = candidate;
    least = std::min(least, found);
  }
  return nearest;
}

}  // namespace penstock
