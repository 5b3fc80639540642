#include <algorithm>
#include <set>

#include "engine/datasets/file_bytes.hpp"
#include "graph/values/out_of_memory.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"
#include "penstock/text.hpp"

namespace penstock {
namespace {

constexpr int byte_values = 256;

bool continues(unsigned char byte) {
  return (byte & 0xc0) == 0x80;
}

/// Returns the number of bytes of a character of UTF-8 that begins with `first`, or 0 if no
/// character begins so.
std::size_t character_bytes(unsigned char first) {
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first < 0xe0) return 2;
  if (first >= 0xe0 && first < 0xf0) return 3;
  return first >= 0xf0 && first < 0xf5 ? 4 : 0;
}

/// Returns whether `character`, which has the right number of bytes, is a code point that UTF-8
/// allows: the second byte excludes long forms of short codes, halves of surrogate pairs, and codes
/// above U+10FFFF.
bool is_allowed(std::string_view character) {
  for (const char byte : character.substr(1))
    if (!continues(static_cast<unsigned char>(byte))) return false;
  if (character.size() < 3) return true;
  const auto first = static_cast<unsigned char>(character[0]);
  const auto second = static_cast<unsigned char>(character[1]);
  if (first == 0xe0) return second >= 0xa0;
  if (first == 0xed) return second < 0xa0;
  if (first == 0xf0) return second >= 0x90;
  return first != 0xf4 || second < 0x90;
}

/// Returns the character of UTF-8 at byte `at` of `text`. @throws Error invalid_data if there is
/// none.
std::string_view character_at(std::string_view text, std::size_t at) {
  const std::size_t bytes = character_bytes(static_cast<unsigned char>(text[at]));
  const std::string_view character = text.substr(at, bytes);
  if (bytes == 0 || character.size() < bytes || !is_allowed(character))
    throw Error(Errc::invalid_data, "expected UTF-8, got byte 0x" +
                                        hexadecimal(static_cast<unsigned char>(text[at]), 2) +
                                        " at byte " + std::to_string(at));
  return character;
}

}  // namespace

Vocabulary::Vocabulary(std::vector<std::string> tokens, bool of_bytes)
    : of_bytes_(of_bytes), tokens_(std::move(tokens)) {
  numbers_of_bytes_.fill(-1);
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    const auto number = static_cast<std::int64_t>(i);
    numbers_.emplace(tokens_[i], number);
    if (tokens_[i].size() == 1)
      numbers_of_bytes_[static_cast<unsigned char>(tokens_[i][0])] = number;
  }
}

Vocabulary Vocabulary::bytes() {
  return or_out_of_memory("Vocabulary::bytes", [] {
    std::vector<std::string> tokens;
    for (int byte = 0; byte < byte_values; ++byte) tokens.emplace_back(1, static_cast<char>(byte));
    return Vocabulary(std::move(tokens), true);
  });
}

// The bytes of UTF-8, compared as unsigned numbers, are in the order of the code points.
Vocabulary Vocabulary::characters(std::string_view text) {
  return or_out_of_memory("Vocabulary::characters", [&] {
    std::set<std::string_view> found;
    for (std::size_t at = 0; at < text.size();) {
      const std::string_view character = character_at(text, at);
      found.insert(character);
      at += character.size();
    }
    if (found.empty())
      throw Error(Errc::invalid_data, "Vocabulary::characters: expected a text, got an empty one");
    return Vocabulary(std::vector<std::string>(found.begin(), found.end()), false);
  });
}

const std::string& Vocabulary::token(std::int64_t number) const {
  if (number >= 0 && number < size()) return tokens_[static_cast<std::size_t>(number)];
  throw Error(Errc::invalid_argument, "Vocabulary::token: expected a number from 0 to " +
                                          std::to_string(size() - 1) + ", got " +
                                          std::to_string(number));
}

std::int64_t Vocabulary::number_at(std::string_view text, std::size_t& at) const {
  const auto first = static_cast<unsigned char>(text[at]);
  if (numbers_of_bytes_[first] >= 0) return ++at, numbers_of_bytes_[first];
  const std::string_view token = of_bytes_ ? text.substr(at, 1) : character_at(text, at);
  const auto found = numbers_.find(token);
  if (found == numbers_.end())
    throw Error(Errc::invalid_data, "vocabulary: character " + quoted_text(token) + " at byte " +
                                        std::to_string(at) + " is not one of the " +
                                        std::to_string(size()) + " that there are");
  at += token.size();
  return found->second;
}

Tensor Vocabulary::encode(std::string_view text) const {
  return or_out_of_memory("Vocabulary::encode", [&] {
    const auto numbers = std::make_shared<std::vector<std::int64_t>>();
    numbers->reserve(text.size());
    for (std::size_t at = 0; at < text.size();) numbers->push_back(number_at(text, at));
    return Tensor::wrap(DType::i64, {std::ssize(*numbers)},
                        {numbers, reinterpret_cast<const std::byte*>(numbers->data())});
  });
}

std::string Vocabulary::decode(std::span<const std::int64_t> tokens) const {
  return or_out_of_memory("Vocabulary::decode", [&] {
    std::string text;
    for (const std::int64_t number : tokens) text += token(number);
    return text;
  });
}

std::string read_text(const std::string& path) {
  return or_out_of_memory("read_text", [&] {
    FileBytes file(path);
    std::string text;
    std::vector<std::uint8_t> piece(1 << 16);
    while (const std::size_t bytes = file.read(piece))
      text.append(reinterpret_cast<const char*>(piece.data()), bytes);
    return text;
  });
}

}  // namespace penstock
