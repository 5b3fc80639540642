#include "graph/kernels/lanes/sum_lanes.hpp"

#include "graph/kernels/lanes/tiles.hpp"
#include "graph/kernels/vectors/vector.hpp"

namespace penstock::graph::PENSTOCK_ISA {
namespace {

/// Returns, for each i below vector_size, the lanes i, i + stride, i + 2*stride, ... up to 16 in
/// one sum.
template <int stride = vector_size>
Vector folded(const float* values) {
  if constexpr (stride == lanes)
    return load(values);
  else
    return folded<stride * 2>(values) + folded<stride * 2>(values + stride);
}

/// Returns the sums of 2*distance Vectors, one sum per element. `parts` is halved until one Vector
/// is left.
template <int distance>
Vector merged(Vector* parts) {
  unrolled<distance>([&](auto i) {
    parts[i] = low_halves<distance>(parts[i], parts[i + distance]) +
               high_halves<distance>(parts[i], parts[i + distance]);
  });
  if constexpr (distance > 1)
    return merged<distance / 2>(parts);
  else
    return parts[0];
}

float sum(const float* values) {
  float parts[lanes];
  __builtin_memcpy(parts, values, sizeof parts);
  for (int distance = lanes / 2; distance > 0; distance /= 2)
    for (int i = 0; i < distance; ++i) parts[i] += parts[i + distance];
  return parts[0];
}

}  // namespace

void sum_lanes(std::int64_t count, const float* values, float* sums) {
  for (std::int64_t i = 0; i < count && count >= vector_size; i += vector_size) {
    // The last Vector overlaps the one before it.
    if (i + vector_size > count) i = count - vector_size;
    Vector parts[vector_size];
    unrolled<vector_size>([&](auto part) { parts[part] = folded(values + (i + part) * lanes); });
    store(sums + i, merged<vector_size / 2>(parts));
  }
  for (std::int64_t i = 0; i < count && count < vector_size; ++i) sums[i] = sum(values + i * lanes);
}

}  // namespace penstock::graph::PENSTOCK_ISA
