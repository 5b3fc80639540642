// These functions make datasets of texts: a Vocabulary numbers the characters or bytes of a text,
// and token_windows() cuts the numbered text into samples for a network that predicts the token
// that comes next.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/dataset.hpp"
#include "penstock/tensor.hpp"

namespace penstock {

/// A Vocabulary numbers tokens, each of which is a short piece of text, from 0. It is a value.
class Vocabulary {
 public:
  /// Returns the vocabulary of the 256 bytes, whose numbers are their values.
  static Vocabulary bytes();
  /// Returns the vocabulary of the different characters of `text`, which is UTF-8, in the order of
  /// their code points. @throws Error invalid_data if `text` is empty, or is not valid UTF-8; a
  /// vocabulary of bytes takes any text.
  static Vocabulary characters(std::string_view text);

  /// Returns the number of tokens.
  std::int64_t size() const noexcept { return static_cast<std::int64_t>(tokens_.size()); }
  /// Returns the text of token `number`. @throws Error invalid_argument if there is no such token.
  const std::string& token(std::int64_t number) const;
  /// Returns the numbers of the tokens of `text`, i64 [count], which take eight times as much
  /// memory as a text of single bytes. @throws Error invalid_data that names the first character
  /// that the vocabulary does not have, and where it is.
  Tensor encode(std::string_view text) const;
  /// Returns the texts of `tokens`, one behind the other. @throws Error as token().
  std::string decode(std::span<const std::int64_t> tokens) const;

 private:
  Vocabulary(std::vector<std::string> tokens, bool of_bytes);
  // Returns the number of the token at byte `at` of `text`, and moves `at` behind the token.
  std::int64_t number_at(std::string_view text, std::size_t& at) const;

  bool of_bytes_;
  std::vector<std::string> tokens_;
  // `numbers_of_bytes_` has the numbers of the tokens that are one byte, and -1 for all other
  // bytes.
  std::array<std::int64_t, 256> numbers_of_bytes_;
  std::map<std::string, std::int64_t, std::less<>> numbers_;
};

/// Returns all of a file, which may be gzipped.
/// @throws Error io_error, corrupt_file, whose text names the file; out_of_memory.
std::string read_text(const std::string& path);

/// A WindowStart says where the windows of token_windows() begin.
enum class WindowStart : std::uint8_t {
  in_order,  ///< Window i begins at token i·length, so that windows stand side by side.
  /// The windows of an epoch stand side by side, and the first one begins anywhere, as drawn from
  /// the seed and the epoch. A window at the end of the text is followed by one at its beginning.
  random,
};

/// Returns a dataset of windows of `length` tokens. The fields of a sample are tokens, i64
/// [length], and next, i64 [length], which has the token that follows each token of the window.
/// `tokens` is i64 [count]. The dataset has as many samples as windows fit side by side.
/// @throws Error shape_mismatch if `tokens` is not such a tensor; invalid_data if it has not more
/// than `length` tokens; invalid_argument if `length` is not 1 or more.
std::shared_ptr<const Dataset> token_windows(const Tensor& tokens, std::int64_t length,
                                             WindowStart start = WindowStart::random,
                                             std::uint64_t seed = 0);

}  // namespace penstock
