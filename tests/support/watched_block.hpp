// A WatchedBlock is memory for a kernel to write to. At first, it is filled with a poison. Behind
// it is a border that the kernel must not change.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "penstock/tensor.hpp"

namespace penstock::testing {

class WatchedBlock {
 public:
  /// Makes a block in which every byte is `poison`. Four bytes 0xff are a NaN.
  explicit WatchedBlock(std::int64_t bytes, unsigned char poison = 0xff);
  static WatchedBlock copy_of(const Tensor& tensor, unsigned char poison = 0xff);

  const std::shared_ptr<std::byte>& block() const { return block_; }
  std::byte* data() const { return block_.get(); }
  std::span<std::byte> bytes() const { return {block_.get(), bytes_}; }
  void fill(unsigned char byte) const;
  bool border_intact() const;

 private:
  std::size_t bytes_;
  std::byte poison_;
  std::shared_ptr<std::byte> block_;
};

}  // namespace penstock::testing
