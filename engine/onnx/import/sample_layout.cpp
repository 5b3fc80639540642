#include "engine/onnx/import/sample_layout.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "engine/onnx/folding/places.hpp"

namespace penstock {
namespace {

std::int64_t product(const Dims& dims, std::size_t begin, std::size_t end) {
  std::int64_t result = 1;
  for (std::size_t i = begin; i < end; ++i) result *= dims[i];
  return result;
}

std::ptrdiff_t at(std::size_t axis) {
  return static_cast<std::ptrdiff_t>(axis);
}

}  // namespace

Dims onnx_dims(const Dims& value, const Placement& placement, std::int64_t samples) {
  Dims dims(value.begin() + 1, value.end());
  if (placement.whole) return dims;
  const auto first = dims.begin() + at(placement.axis);
  dims.erase(first, first + at(placement.extra()));
  dims.insert(dims.begin() + at(placement.axis), placement.outer * samples * placement.inner);
  return dims;
}

Dims value_dims(const Dims& dims, const Placement& placement) {
  Dims result = dims;
  if (!placement.whole) {
    result.erase(result.begin() + at(placement.axis));
    auto place = result.begin() + at(placement.axis);
    if (placement.inner != 1) place = result.insert(place, placement.inner);
    if (placement.outer != 1) result.insert(place, placement.outer);
  }
  result.insert(result.begin(), 1);
  return result;
}

std::size_t value_axis(std::size_t axis, const Placement& placement) {
  if (placement.whole || axis < placement.axis) return axis + 1;
  return axis + placement.extra();
}

namespace {

/// Returns the placement of samples in axis number `axis` of a tensor of the dimensions `to`, or
/// nothing if the axis cannot have them. `outer` is the number of places in front of the samples
/// within the axis.
std::optional<Placement> placement_in(const ProbedDims& to, std::size_t axis, std::int64_t outer,
                                      const std::array<std::int64_t, probes>& samples) {
  const std::int64_t size = to[0][axis];
  if (size <= 0 || size % samples[0] != 0) return std::nullopt;
  const std::int64_t factor = size / samples[0];
  if (factor % outer != 0 || to[1][axis] != factor * samples[1]) return std::nullopt;
  ProbedDims other_dims = to;
  for (Dims& dims : other_dims) dims.erase(dims.begin() + at(axis));
  if (other_dims[0] != other_dims[1]) return std::nullopt;
  return Placement{.axis = axis, .outer = outer, .inner = factor / outer};
}

}  // namespace

// There are as many places in front of the samples in both row-major tensors. If there is one
// sample, several axes can have it. The better one is then not the last axis together with
// elements of the sample, because those are features, along which networks compute: [T,1,H,D] of
// an attention with H heads becomes [T·1,H·D], and not [T,1·H·D]. If that leaves several axes, the
// better one begins with the samples: [T,1,H·D] becomes [T,1·H,D].
Placement reshaped_placement(const Placement& placement, const ProbedDims& from,
                             const ProbedDims& to,
                             const std::array<std::int64_t, probes>& samples) {
  if (to[0].size() != to[1].size())
    throw MixedSamples{"the number of axes of a new shape depends on the number of samples"};
  if (placement.whole) {
    if (to[0] != to[1]) throw MixedSamples{"a shape depends on the number of samples"};
    return placement;
  }
  const std::int64_t before = product(from[0], 0, placement.axis) * placement.outer;
  const auto faults = [&](const Placement& found) {
    const bool is_among_features = found.axis + 1 == to[0].size() && found.inner != 1;
    return std::pair(is_among_features, found.outer != 1);
  };
  std::optional<Placement> best;
  std::int64_t so_far = 1;
  for (std::size_t axis = 0; axis < to[0].size() && so_far > 0; so_far *= to[0][axis++]) {
    if (before % so_far != 0) continue;
    const auto found = placement_in(to, axis, before / so_far, samples);
    if (found && (!best || faults(*found) < faults(*best))) best = found;
  }
  if (!best) throw MixedSamples{"a new shape puts parts of samples into an axis"};
  return *best;
}

Tensor rows_of_a_sample(const Tensor& tensor, const Placement& placement) {
  const std::size_t axis = placement.axis;
  const Dims dims = dims_of(tensor.shape());
  const std::int64_t samples = dims[axis] / (placement.outer * placement.inner);
  if (samples == 0) throw MixedSamples{"a known tensor has no row for a sample"};
  // The rows of one sample that stand side by side, and how many such groups there are.
  const std::size_t group =
      size_of(tensor.dtype()) *
      static_cast<std::size_t>(placement.inner * product(dims, axis + 1, dims.size()));
  const auto groups = static_cast<std::size_t>(product(dims, 0, axis) * placement.outer);
  const auto count = static_cast<std::size_t>(samples);
  auto elements =
      std::make_shared<std::vector<std::byte>>(std::max<std::size_t>(1, groups * group));
  for (std::size_t i = 0; i < groups; ++i) {
    const std::byte* const first = tensor.raw() + i * count * group;
    for (std::size_t sample = 1; sample < count; ++sample)
      if (std::memcmp(first, first + sample * group, group) != 0)
        throw MixedSamples{"a known tensor differs from sample to sample"};
    std::copy_n(first, group, elements->data() + i * group);
  }
  return Tensor::wrap(tensor.dtype(),
                      tensor.shape().with(at(axis), placement.outer * placement.inner),
                      {elements, elements->data()});
}

}  // namespace penstock
