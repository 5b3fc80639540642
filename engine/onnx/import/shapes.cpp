// The operators that change shapes, and cut and join tensors.
#include "engine/onnx/shapes/reshaped_dims.hpp"

#include <array>
#include <numeric>

#include "engine/onnx/folding/fold_call.hpp"
#include "engine/onnx/folding/places.hpp"
#include "engine/onnx/import/folded_node.hpp"
#include "engine/onnx/import/operators.hpp"
#include "engine/onnx/shapes/checked_dims.hpp"
#include "engine/onnx/shapes/slice_range.hpp"
#include "graph/ops/arithmetic/expand.hpp"
#include "graph/ops/movement/concat.hpp"
#include "graph/ops/movement/index_select.hpp"
#include "graph/ops/movement/slices.hpp"

namespace penstock {
namespace {

/// Returns x in the dimensions that `change` makes of its own, for both numbers of samples.
template <class Change>
Results with_dims(NodeImport& n, const Change& change) {
  const ProbedDims dims = n.network.dims(n.input(0));
  ProbedDims to;
  for (std::size_t probe = 0; probe < probes; ++probe) to[probe] = change(dims[probe], probe);
  return {n.network.reshaped(n.input(0), to)};
}

Results reshape(NodeImport& n) {
  const auto wanted = n.probed_integers(1);
  const bool allow_zero = n.flag("allowzero");
  return with_dims(n, [&](const Dims& dims, std::size_t probe) {
    return reshaped_dims(dims, wanted[probe], allow_zero);
  });
}

Results flatten(NodeImport& n) {
  return with_dims(
      n, [&](const Dims& dims, std::size_t) { return flattened_dims(dims, n.integer("axis", 1)); });
}

Results squeeze(NodeImport& n) {
  const Dims axes = n.integers("axes", 1);
  return with_dims(n, [&](const Dims& dims, std::size_t) { return squeezed_dims(dims, axes); });
}

Results unsqueeze(NodeImport& n) {
  const Dims axes = n.integers("axes", 1);
  return with_dims(n, [&](const Dims& dims, std::size_t) { return unsqueezed_dims(dims, axes); });
}

Results transpose(NodeImport& n) {
  Dims order = n.integers("perm");
  if (order.empty()) {
    order.resize(n.rank(0));
    std::iota(order.rbegin(), order.rend(), std::int64_t{0});
  }
  n.expect(order.size() == n.rank(0), "expected as many axes in perm as the input has");
  return {n.network.transposed(n.input(0), order)};
}

/// Returns the shape of x, which is known for each number of samples.
Results shape(NodeImport& n) {
  const ProbedDims dims = n.network.dims(n.input(0));
  const auto rank = static_cast<std::int64_t>(dims[0].size());
  const SliceRange range = slice_range(n.integer("start", 0), n.integer("end", rank), 1, rank);
  Imported result{.type = OnnxType::i64};
  for (std::size_t probe = 0; probe < probes; ++probe) {
    const Dims part(dims[probe].begin() + range.first,
                    dims[probe].begin() + range.first + range.count);
    result.known[probe] = tensor_of(DType::i64, Shape({range.count}), part);
  }
  join_equal(result.known, n.network.computed_count());
  return {result};
}

Results size(NodeImport& n) {
  const ProbedDims dims = n.network.dims(n.input(0));
  Imported result{.type = OnnxType::i64};
  for (std::size_t probe = 0; probe < probes; ++probe)
    result.known[probe] = tensor_of(DType::i64, {}, Dims{checked_shape(dims[probe]).elements()});
  join_equal(result.known, n.network.computed_count());
  return {result};
}

/// Returns the elements [begin, end) of an axis of a value.
Value part_of(NodeImport& n, const Value& x, std::int64_t axis, std::int64_t begin,
              std::int64_t end) {
  return n.apply(graph::slice, {x}, {{"axis", axis}, {"begin", begin}, {"end", end}});
}

Results slice(NodeImport& n) {
  Imported x = n.input(0);
  const auto bounds = [&](const char* name, std::size_t i) { return n.integers(name, i); };
  const Dims starts = bounds("starts", 1), ends = bounds("ends", 2), steps = bounds("", 4);
  Dims axes = bounds("axes", 3);
  if (axes.empty()) {
    axes.resize(starts.size());
    std::iota(axes.begin(), axes.end(), std::int64_t{0});
  }
  n.expect(starts.size() == ends.size() && starts.size() == axes.size() &&
               (steps.empty() || steps.size() == starts.size()),
           "expected as many axes, ends and steps as starts");
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const ProbedDims dims = n.network.dims(x);
    const std::size_t number = axis_of(axes[i], dims[0].size());
    const auto range_in = [&](std::size_t probe) {
      return slice_range(starts[i], ends[i], steps.empty() ? 1 : steps[i], dims[probe][number]);
    };
    const auto is_whole = [&](std::size_t probe) {
      const SliceRange part = range_in(probe);
      return part.count == dims[probe][number] && part.step == 1;
    };
    if (is_whole(0) && is_whole(1)) continue;
    const SliceRange range = range_in(0);
    const std::int64_t axis = n.network.axis_of_value(x, axes[i]);
    const Value value = x.is_known() ? n.network.value(x) : x.value;
    Value part;
    if (range.step == 1 || range.count <= 1) {
      part = part_of(n, value, axis, std::max<std::int64_t>(range.first, 0),
                     std::max<std::int64_t>(range.first, 0) + range.count);
    } else {
      n.count_list(range.count);
      Dims indices;
      indices.reserve(static_cast<std::size_t>(range.count));
      for (std::int64_t k = 0; k < range.count; ++k)
        indices.push_back(range.first + k * range.step);
      part = n.apply(graph::index_select, {value}, {{"axis", axis}, {"indices", indices}});
    }
    x = n.network.computed(part, x.type, x.placement, {&x});
  }
  return {x};
}

Results split(NodeImport& n) {
  Imported& x = n.input(0);
  const std::int64_t axis = n.integer("axis", 0);
  const std::int64_t size = n.dims(0).at(axis_of(axis, n.rank(0)));
  const Dims sizes = split_sizes(size, n.integers("split", 1), n.node.outputs.size());
  const std::int64_t number = n.network.axis_of_value(x, axis);
  const Value value = x.is_known() ? n.network.value(x) : x.value;
  Results parts;
  std::int64_t begin = 0;
  for (const std::int64_t part : sizes) {
    n.expect_supported(part > 0, "one of its parts has no elements");
    parts.push_back(n.like_first(part_of(n, value, number, begin, begin + part)));
    begin += part;
  }
  return parts;
}

/// Returns whether input number `i` of a Concat along `axis` has no elements, whatever the number
/// of samples.
bool is_left_out(NodeImport& n, std::size_t i, std::int64_t axis) {
  const auto has_none = [&](const Dims& dims) { return dims[axis_of(axis, dims.size())] == 0; };
  return std::ranges::all_of(n.network.dims(n.input(i)), has_none);
}

Results concat(NodeImport& n) {
  const std::int64_t axis = n.integer("axis", 0);
  std::optional<Placement> placement;
  const Imported* sampled = &n.input(0);
  for (std::size_t i = 0; i < n.input_count(); ++i)
    if (n.input(i).placement && !placement) {
      placement = n.input(i).placement;
      sampled = &n.input(i);
    }
  const std::int64_t number = n.network.axis_of_value(*sampled, axis);
  std::vector<Value> parts;
  bool is_float = false;
  for (std::size_t i = 0; i < n.input_count(); ++i) {
    Imported& x = n.input(i);
    n.expect(n.rank(i) == n.rank(0), "expected inputs of as many axes");
    if (is_left_out(n, i, axis)) continue;
    // with_samples() makes floats, which integers that are only moved must not become.
    if (x.placement && x.placement != placement && n.network.type(x.value).dtype != DType::f32)
      throw MixedSamples{"its parts have their samples along different axes"};
    is_float = is_float || x.placement != placement || x.is_known() ||
               n.network.type(x.value).dtype == DType::f32;
  }
  for (std::size_t i = 0; i < n.input_count(); ++i) {
    Imported& x = n.input(i);
    if (is_left_out(n, i, axis)) continue;
    if (x.placement != placement)
      parts.push_back(n.network.with_samples(x, *placement));
    else
      parts.push_back(is_float ? n.network.value(x) : x.value);
  }
  n.expect_supported(!parts.empty(), "its result has no elements");
  const Value joined =
      parts.size() == 1 ? parts[0] : n.apply(graph::concat, parts, {{"axis", number}});
  return {n.result(joined, n.input(0).type, placement)};
}

/// Repeats x to the dimensions to which its own and the wanted ones broadcast.
Results expand(NodeImport& n) {
  Imported& x = n.input(0);
  const ProbedDims from = n.network.dims(x);
  const auto wanted = n.probed_integers(1);
  ProbedDims to;
  for (std::size_t probe = 0; probe < probes; ++probe)
    to[probe] = broadcast_dims(from[probe], wanted[probe]);
  if (to == from) return {x};
  ProbedDims padded = from;
  for (std::size_t probe = 0; probe < probes; ++probe)
    padded[probe].insert(padded[probe].begin(), to[probe].size() - from[probe].size(), 1);
  Imported result = n.network.reshaped(x, padded);
  // A tensor without samples gets them if their number decides one of the sizes.
  for (std::size_t axis = 0; axis < to[0].size() && !result.placement; ++axis) {
    if (to[0][axis] == to[1][axis]) continue;
    n.expect_supported(to[0][axis] == n.network.samples(0) && to[1][axis] == n.network.samples(1),
                       "its size is computed from the number of samples");
    const Placement placement{.axis = axis};
    result.value = n.network.with_samples(result, placement);
    result.placement = placement;
  }
  Dims dims = n.network.shape(n.network.value(result));
  for (std::size_t axis = 0; axis < to[0].size(); ++axis) {
    if (result.placement && !result.placement->whole && axis == result.placement->axis) {
      if (n.network.dims(result)[0][axis] != to[0][axis]) throw MixedSamples{"it repeats samples"};
      continue;
    }
    dims[static_cast<std::size_t>(
        n.network.axis_of_value(result, static_cast<std::int64_t>(axis)))] = to[0][axis];
  }
  if (result.placement) dims[0] = -1;
  result.value = n.apply(graph::expand, {result.value}, {{"shape", dims}});
  return {result};
}

/// Returns x with what it has along `axis` repeated `count` times. The axes around this one are
/// joined meanwhile, because one more axis than x has may be too many.
Imported repeated(NodeImport& n, Imported& x, std::int64_t axis, std::int64_t count) {
  const auto place = static_cast<std::size_t>(n.network.axis_of_value(x, axis));
  const Value value = x.is_known() ? n.network.value(x) : x.value;
  Dims dims = n.network.shape(value);
  const auto product = [&](std::size_t begin, std::size_t end) {
    std::int64_t result = 1;
    for (std::size_t i = begin; i < end; ++i) result = checked_product(result, dims[i]);
    return result;
  };
  const std::int64_t before = product(x.placement ? 1 : 0, place),
                     behind = product(place, dims.size());
  Dims apart{before, 1, behind}, copies{before, count, behind};
  dims[place] = checked_product(dims[place], count);
  if (x.placement) {  // Axis 0 counts samples.
    apart.insert(apart.begin(), 0);
    copies.insert(copies.begin(), -1);
    dims[0] = 0;
  }
  const Value once = n.network.reshaped_value(value, apart),
              often = n.apply(graph::expand, {once}, {{"shape", copies}});
  return n.network.computed(n.network.reshaped_value(often, dims), x.type, x.placement, {&x});
}

/// An axis is repeated no more often.
constexpr std::int64_t most_repeats = 1 << 20;

Results tile(NodeImport& n) {
  Imported x = n.input(0);
  const auto times = n.probed_integers(1);
  check_repeats(times[0], n.rank(0));
  for (std::size_t axis = 0; axis < times[0].size(); ++axis) {
    const std::int64_t count = times[0][axis];
    if (count != times[1][axis]) throw MixedSamples{"its repeats depend on the number of samples"};
    if (count == 1) continue;
    n.expect_supported(count > 0 && count <= most_repeats,
                       "expected from 1 to " + std::to_string(most_repeats) + " repeats of axis " +
                           std::to_string(axis) + ", got " + std::to_string(count));
    x = repeated(n, x, static_cast<std::int64_t>(axis), count);
  }
  return {x};
}

/// Blocks have no more rows and columns.
constexpr std::int64_t largest_block = 1 << 15;

Results depth_to_space(NodeImport& n) {
  const std::int64_t block = n.integer("blocksize", 1);
  const bool by_columns = n.text("mode", "DCR") == "CRD";
  const ProbedDims dims = n.network.dims(n.input(0));
  n.expect(dims[0].size() == 4 && block > 0 && block <= largest_block &&
               dims[0][1] % (block * block) == 0,
           "expected [N,C,H,W] with channels that divide into blocks");
  ProbedDims apart, joined;
  for (std::size_t probe = 0; probe < probes; ++probe) {
    const Dims& d = dims[probe];
    const std::int64_t channels = d[1] / (block * block);
    apart[probe] = by_columns ? Dims{d[0], channels, block, block, d[2], d[3]}
                              : Dims{d[0], block, block, channels, d[2], d[3]};
    joined[probe] = {d[0], channels, d[2] * block, d[3] * block};
  }
  Imported parts = n.network.reshaped(n.input(0), apart);
  const Dims order = by_columns ? Dims{0, 1, 4, 2, 5, 3} : Dims{0, 3, 4, 1, 5, 2};
  Imported moved = n.network.transposed(parts, order);
  return {n.network.reshaped(moved, joined)};
}

Results space_to_depth(NodeImport& n) {
  const std::int64_t block = n.integer("blocksize", 1);
  const ProbedDims dims = n.network.dims(n.input(0));
  n.expect(dims[0].size() == 4 && block > 0 && block <= largest_block && dims[0][2] % block == 0 &&
               dims[0][3] % block == 0,
           "expected [N,C,H,W] with sides that divide into blocks");
  ProbedDims apart, joined;
  for (std::size_t probe = 0; probe < probes; ++probe) {
    const Dims& d = dims[probe];
    apart[probe] = {d[0], d[1], d[2] / block, block, d[3] / block, block};
    joined[probe] = {d[0], d[1] * block * block, d[2] / block, d[3] / block};
  }
  Imported parts = n.network.reshaped(n.input(0), apart);
  Imported moved = n.network.transposed(parts, {0, 3, 5, 1, 2, 4});
  return {n.network.reshaped(moved, joined)};
}

}  // namespace

std::span<const OnnxOperator> shape_operators() {
  static constexpr std::array<OnnxOperator, 14> operators{{
      {"Concat", concat},
      {"DepthToSpace", depth_to_space},
      {"Expand", expand},
      {"Flatten", flatten},
      {"Reshape", reshape},
      {"Shape", shape},
      {"Size", size},
      {"Slice", slice},
      {"SpaceToDepth", space_to_depth},
      {"Split", split},
      {"Squeeze", squeeze},
      {"Tile", tile},
      {"Transpose", transpose},
      {"Unsqueeze", unsqueeze},
  }};
  return operators;
}

}  // namespace penstock
