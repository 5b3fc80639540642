#include "tests/tools/fuzz/mutations.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>

namespace penstock::testing {
namespace {

constexpr std::size_t longest = 1 << 20;

std::size_t below(std::size_t end, std::mt19937_64& random) {
  return end == 0 ? 0 : random() % end;
}

/// Draws a number of bytes up to `end`. Small numbers are drawn more often than large ones.
std::size_t length_below(std::size_t end, std::mt19937_64& random) {
  return below(std::min(end, std::size_t{1} << below(12, random)) + 1, random);
}

std::string part_of(const std::string& bytes, std::mt19937_64& random) {
  const std::size_t begin = below(bytes.size(), random);
  return bytes.substr(begin, length_below(bytes.size() - begin, random));
}

/// Returns a number at a limit, as bytes in either order or as digits.
std::string number_at_a_limit(std::mt19937_64& random) {
  std::uint64_t number =
      random() % 3 == 0 ? random() >> random() % 64 : std::uint64_t{1} << random() % 64;
  number += random() % 3 - 1;
  if (random() % 3 == 0) return std::to_string(number);
  std::string bytes(reinterpret_cast<const char*>(&number), sizeof number);
  bytes.resize(std::size_t{1} << random() % 4);
  if (random() % 2 == 0) std::ranges::reverse(bytes);
  return bytes;
}

void overwrite(std::string& bytes, const std::string& part, std::mt19937_64& random) {
  const std::size_t at = below(bytes.size() + 1, random);
  bytes.replace(at, std::min(part.size(), bytes.size() - at), part);
}

void insert(std::string& bytes, const std::string& part, std::mt19937_64& random) {
  bytes.insert(below(bytes.size() + 1, random), part);
}

void change_a_byte(std::string& bytes, std::mt19937_64& random) {
  if (bytes.empty()) return;
  char& byte = bytes[below(bytes.size(), random)];
  switch (random() % 4) {
    case 0:
      byte = static_cast<char>(random());
      break;
    case 1:
      byte = static_cast<char>(byte ^ (1 << random() % 8));
      break;
    case 2:
      byte = static_cast<char>(byte + 1);
      break;
    default:
      byte = static_cast<char>(byte - 1);
  }
}

void remove_a_part(std::string& bytes, std::mt19937_64& random) {
  const std::size_t at = below(bytes.size(), random);
  bytes.erase(at, length_below(bytes.size() - at, random));
}

void change(std::string& bytes, std::span<const std::string> words, const std::string& other,
            std::mt19937_64& random) {
  const std::string word = words.empty() ? "" : words[below(words.size(), random)];
  switch (random() % 10) {
    case 0:
      return overwrite(bytes, number_at_a_limit(random), random);
    case 1:
      return insert(bytes, number_at_a_limit(random), random);
    case 2:
      return overwrite(bytes, word, random);
    case 3:
      return insert(bytes, word, random);
    case 4:
      return insert(bytes, part_of(bytes, random), random);
    case 5:
      return overwrite(bytes, part_of(other, random), random);
    case 6:
      return remove_a_part(bytes, random);
    case 7:
      return random() % 4 == 0 ? bytes.resize(below(bytes.size() + 1, random))
                               : change_a_byte(bytes, random);
    default:
      return change_a_byte(bytes, random);
  }
}

}  // namespace

std::string mutated(std::string bytes, std::span<const std::string> words, const std::string& other,
                    std::mt19937_64& random) {
  for (auto changes = 1 + random() % (1 + random() % 8); changes > 0; --changes)
    change(bytes, words, other, random);
  if (bytes.size() > longest) bytes.resize(longest);
  return bytes;
}

}  // namespace penstock::testing
