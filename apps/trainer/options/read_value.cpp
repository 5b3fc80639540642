#include "apps/trainer/options/read_value.hpp"

#include <algorithm>

#include "apps/trainer/options/excerpt.hpp"
#include "apps/trainer/options/refuse.hpp"

namespace trainer {

void refuse_value(const std::string& expected, std::string_view got) {
  constexpr std::size_t longest_value = 100;
  refuse("expected " + expected + ", got \"" + excerpt(got, longest_value) + '"');
}

std::string joined(const std::vector<std::string>& words, const std::string& separator) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : separator) + word;
  return text;
}

std::string joined_first(std::vector<std::string> words, std::size_t most) {
  const std::size_t all = words.size();
  words.resize(std::min(all, most));
  return joined(words) +
         (all > words.size() ? " and " + std::to_string(all - words.size()) + " more" : "");
}

std::string enumeration(const std::vector<std::string>& words, const std::string& before_last) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? before_last : ", ";
    text += words[i];
  }
  return text;
}

}  // namespace trainer
