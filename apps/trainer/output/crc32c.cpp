#include "apps/trainer/output/crc32c.hpp"

#include <array>

namespace trainer {
namespace {

constexpr std::array<std::uint32_t, 256> table = [] {
  constexpr std::uint32_t reversed_polynomial = 0x82F63B78;
  std::array<std::uint32_t, 256> entries{};
  for (std::uint32_t i = 0; i < entries.size(); ++i) {
    std::uint32_t entry = i;
    for (int bit = 0; bit < 8; ++bit)
      entry = (entry >> 1) ^ ((entry & 1) != 0 ? reversed_polynomial : 0);
    entries[i] = entry;
  }
  return entries;
}();

}  // namespace

std::uint32_t crc32c(std::string_view bytes) {
  std::uint32_t crc = ~std::uint32_t{0};
  for (const char byte : bytes)
    crc = table[(crc ^ static_cast<unsigned char>(byte)) & 0xFF] ^ (crc >> 8);
  return ~crc;
}

std::uint32_t masked_crc32c(std::string_view bytes) {
  constexpr std::uint32_t mask = 0xA282EAD8;
  const std::uint32_t crc = crc32c(bytes);
  return ((crc >> 15) | (crc << 17)) + mask;
}

}  // namespace trainer
