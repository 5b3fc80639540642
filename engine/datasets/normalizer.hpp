// A Normalizer leads from a byte of an image to the number that a network sees, by a table.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "penstock/dataset.hpp"

namespace penstock {

/// Checks a normalization. @throws Error invalid_argument, its text opening with `subject`, unless
/// mean and std are finite and std is positive, also when rounded to f32.
void check_normalization(const std::string& subject, const Normalization& normalization);

class Normalizer {
 public:
  /// Makes the table of a normalization. @throws Error as check_normalization().
  explicit Normalizer(const Normalization& normalization);

  float operator()(std::uint8_t byte) const noexcept { return table_[byte]; }
  /// Writes the number of each byte to `destination`, which has room for as many floats.
  void apply(std::span<const std::uint8_t> bytes, float* destination) const noexcept;

 private:
  std::array<float, 256> table_;
};

/// Returns the fields of an image with a label, which are image, f32 [channels,rows,columns], and
/// label, i64 [].
std::vector<Field> image_fields(const Shape& image);

}  // namespace penstock
