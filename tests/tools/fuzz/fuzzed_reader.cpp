#include "tests/tools/fuzz/fuzzed_reader.hpp"

#include <algorithm>
#include <string_view>

#include "penstock/error.hpp"

namespace penstock::testing {
namespace {

constexpr std::size_t longest_text = 6000;

std::string defect_of(const Error& error) {
  const std::string_view text = error.what();
  if (error.code() == Errc::internal || error.code() == Errc::out_of_memory)
    return std::string(to_string(error.code())) + ": " + std::string(text.substr(0, 200));
  if (text.size() > longest_text) return "a text of " + std::to_string(text.size()) + " bytes";
  const bool one_line =
      std::ranges::none_of(text, [](char c) { return c == '\n' || c == '\r' || c == '\x1b'; });
  return one_line ? "" : "a text of several lines, or with control characters";
}

}  // namespace

Reading reading_of(const FuzzedReader& reader, const std::string& input) {
  try {
    reader.read(input);
    return {.accepted = true};
  } catch (const Error& error) {
    return {.defect = defect_of(error)};
  } catch (const std::exception& error) {
    return {.defect = std::string("an exception that is no Error: ") + error.what()};
  }
}

}  // namespace penstock::testing
