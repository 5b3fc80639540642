#include "engine/datasets/normalizer.hpp"

#include <algorithm>

#include "graph/values/canonical_floats.hpp"
#include "graph/values/number_range.hpp"

namespace penstock {

void check_normalization(const std::string& subject, const Normalization& normalization) {
  check_f32(subject + ": mean", normalization.mean, any_number);
  check_f32(subject + ": std", normalization.std, {.above_low = true});
}

Normalizer::Normalizer(const Normalization& normalization) {
  // The host's thread, which calls this constructor, may have another floating-point environment.
  const CanonicalFloats floats;
  check_normalization("normalization", normalization);
  const auto [mean, std] = normalization;
  // All is computed in single precision, as torchvision does it.
  for (std::size_t byte = 0; byte < table_.size(); ++byte)
    table_[byte] =
        (static_cast<float>(byte) / 255.0f - static_cast<float>(mean)) / static_cast<float>(std);
}

void Normalizer::apply(std::span<const std::uint8_t> bytes, float* destination) const noexcept {
  std::transform(bytes.begin(), bytes.end(), destination, *this);
}

PixelWriter::PixelWriter(const PixelFormat& format) {
  if (format) normalizer_.emplace(*format);
}

std::vector<Field> PixelWriter::fields(const Shape& image) const {
  return {{"image", normalizer_ ? DType::f32 : DType::u8, image}, {"label", DType::i64, {}}};
}

void PixelWriter::write(std::span<const std::uint8_t> pixels,
                        std::byte* destination) const noexcept {
  if (normalizer_)
    normalizer_->apply(pixels, reinterpret_cast<float*>(destination));
  else
    std::ranges::copy(std::as_bytes(pixels), destination);
}

}  // namespace penstock
