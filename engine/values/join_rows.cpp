#include "engine/values/join_rows.hpp"

#include <cstring>

#include "engine/values/memory.hpp"

namespace penstock {

Tensor join_rows(std::span<const Tensor> parts) {
  const Tensor& first = parts.front();
  if (parts.size() == 1) return first;
  const auto rows = [](const Tensor& t) { return t.shape().rank() > 0 ? t.shape()[0] : 1; };
  std::int64_t all_rows = 0;
  std::size_t bytes = 0;
  for (const Tensor& part : parts) {
    all_rows += rows(part);
    bytes += part.bytes();
  }
  const auto block = allocate_block(bytes);
  std::byte* end = block.get();
  for (const Tensor& part : parts) {
    std::memcpy(end, part.raw(), part.bytes());
    end += part.bytes();
  }
  const Shape row = first.shape().rank() > 0 ? first.shape() : Shape{1};
  return Tensor::wrap(first.dtype(), row.with(0, all_rows), block);
}

}  // namespace penstock
