#include "engine/datasets/normalizer.hpp"

#include <algorithm>
#include <cmath>

#include "penstock/error.hpp"

namespace penstock {

Normalizer::Normalizer(const Normalization& normalization) {
  const auto [mean, std] = normalization;
  if (!std::isfinite(mean) || !std::isfinite(std) || !(std > 0))
    throw Error(Errc::invalid_argument,
                "normalization: expected a finite mean and a positive std, got mean " +
                    std::to_string(mean) + " and std " + std::to_string(std));
  // In single precision throughout, as torchvision does it.
  for (std::size_t byte = 0; byte < table_.size(); ++byte)
    table_[byte] =
        (static_cast<float>(byte) / 255.0f - static_cast<float>(mean)) / static_cast<float>(std);
}

void Normalizer::apply(std::span<const std::uint8_t> bytes, float* destination) const noexcept {
  std::transform(bytes.begin(), bytes.end(), destination, *this);
}

std::vector<Field> image_fields(const Shape& image) {
  return {{"image", DType::f32, image}, {"label", DType::i64, {}}};
}

}  // namespace penstock
