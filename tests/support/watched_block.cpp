#include "tests/support/watched_block.hpp"

#include <algorithm>
#include <cstring>

#include "graph/values/memory.hpp"

namespace penstock::testing {
namespace {

constexpr std::size_t border = 256;

}  // namespace

WatchedBlock::WatchedBlock(std::int64_t bytes, unsigned char poison)
    : bytes_(static_cast<std::size_t>(bytes)),
      poison_(static_cast<std::byte>(poison)),
      block_(allocate_block(bytes_ + border)) {
  std::fill_n(block_.get(), bytes_ + border, poison_);
}

WatchedBlock WatchedBlock::copy_of(const Tensor& tensor, unsigned char poison) {
  WatchedBlock block(static_cast<std::int64_t>(tensor.bytes()), poison);
  std::memcpy(block.data(), tensor.raw(), tensor.bytes());
  return block;
}

void WatchedBlock::fill(unsigned char byte) const {
  std::ranges::fill(bytes(), static_cast<std::byte>(byte));
}

bool WatchedBlock::border_intact() const {
  return std::all_of(block_.get() + bytes_, block_.get() + bytes_ + border,
                     [&](std::byte byte) { return byte == poison_; });
}

}  // namespace penstock::testing
