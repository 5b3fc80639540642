#include "engine/rows.hpp"

#include <cstring>

#include "graph/values/memory.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

Shape with_rows(const Tensor& tensor, std::int64_t rows) {
  return tensor.shape().rank() > 0 ? tensor.shape().with(0, rows) : Shape{rows};
}

bool differ_in_rows_only(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && with_rows(a, 1) == with_rows(b, 1);
}

}  // namespace

std::vector<Tensor> rows_of(std::span<const Tensor> tensors, std::int64_t begin, std::int64_t end) {
  std::vector<Tensor> rows;
  rows.reserve(tensors.size());
  for (const Tensor& tensor : tensors) rows.push_back(tensor.rows(begin, end));
  return rows;
}

Tensor join_rows(std::span<const Tensor> parts) {
  const Tensor& first = parts.front();
  if (parts.size() == 1) return first;
  const auto rows = [](const Tensor& t) { return t.shape().rank() > 0 ? t.shape()[0] : 1; };
  std::int64_t all_rows = 0;
  std::size_t bytes = 0;
  for (const Tensor& part : parts) {
    if (!differ_in_rows_only(first, part))
      throw Error(Errc::shape_mismatch, "expected rows of " + to_string(first.shape()) +
                                            ", to be put one after the other, got " +
                                            to_string(part.shape()));
    all_rows += rows(part);
    bytes += part.bytes();
  }
  const auto block = allocate_block(bytes);
  std::byte* end = block.get();
  for (const Tensor& part : parts) {
    // A tensor without elements may have no memory, from which nothing may be copied.
    if (part.bytes() > 0) std::memcpy(end, part.raw(), part.bytes());
    end += part.bytes();
  }
  return Tensor::wrap(first.dtype(), with_rows(first, all_rows), block);
}

}  // namespace penstock
