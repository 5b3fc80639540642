#include "engine/onnx/import/network_import.hpp"

#include <algorithm>
#include <cmath>

#include "engine/model/model_access.hpp"
#include "engine/model/model_state.hpp"
#include "engine/onnx/folding/elements.hpp"
#include "engine/onnx/folding/places.hpp"
#include "engine/onnx/format/tensor_values.hpp"
#include "engine/onnx/import/folded_node.hpp"
#include "engine/onnx/import/sample_layout.hpp"
#include "engine/onnx/shapes/corrupt.hpp"
#include "engine/onnx/shapes/reshaped_dims.hpp"
#include "graph/ops/arithmetic/arithmetic.hpp"
#include "graph/ops/arithmetic/expand.hpp"
#include "graph/ops/casts/casts.hpp"
#include "graph/ops/movement/rearrange.hpp"
#include "graph/ops/movement/slices.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

/// Returns the number that all elements of a tensor are, if it is finite.
std::optional<float> only_number(const Tensor& tensor) {
  const ElementReader<double> numbers(tensor);
  const auto first = static_cast<float>(numbers[0]);
  for (std::size_t place = 0; place < static_cast<std::size_t>(tensor.elements()); ++place)
    if (static_cast<float>(numbers[place]) != first) return std::nullopt;
  return std::isfinite(first) ? std::optional(first) : std::nullopt;
}

}  // namespace

NetworkImport::NetworkImport(const Model& model, std::array<std::int64_t, probes> samples,
                             bool is_run)
    : model_(model), state_(ModelAccess::state(model)), samples_(samples), is_run_(is_run) {}

bool NetworkImport::is_computed(const Value& value) const {
  return state_->network.graph().value(state_->id("value", value)).producer != graph::none;
}

void NetworkImport::name_nodes(const std::string& name) {
  node_name_ = name;
  state_->network.name_nodes(name);
}

Imported NetworkImport::input(const std::string& name, OnnxType type, const Dims& sample,
                              const Placement& placement) {
  const Value value = model_.input(name, Shape(sample), dtype_of_onnx(type));
  if (!first_input_) first_input_ = value;
  return {.type = type, .value = value, .placement = placement};
}

Value NetworkImport::apply(const graph::Op& op, const std::vector<Value>& inputs,
                           graph::Attributes attributes) {
  return state_->adding(
      op.name, [&](ModelState& state) { return state.apply(op, inputs, std::move(attributes)); });
}

Value NetworkImport::other_output(const Value& first, std::size_t number) const {
  const graph::Graph& graph = state_->network.graph();
  const graph::NodeId node = graph.value(state_->id("output", first)).producer;
  return state_->value(graph.node(node).outputs[number]);
}

graph::TensorType NetworkImport::type(const Value& value) const {
  return state_->network.graph().type(state_->id("type", value));
}

Dims NetworkImport::shape(const Value& value) const {
  return dims_of(type(value).shape);
}

Value NetworkImport::reshaped_value(const Value& x, const Dims& dims) {
  if (shape(x) == dims) return x;
  return apply(graph::reshape, {x}, {{"shape", dims}});
}

Value NetworkImport::number(double value) {
  return apply(graph::fill, {}, {{"value", value}});
}

ProbedDims NetworkImport::dims(const Imported& x) const {
  ProbedDims result;
  for (std::size_t probe = 0; probe < probes; ++probe) {
    if (x.is_known())
      result[probe] = dims_of(x.known[probe].shape());
    else if (x.placement)
      result[probe] = onnx_dims(shape(x.value), *x.placement, samples_[probe]);
    else
      result[probe] = shape(x.value);
  }
  if (result[0].size() != result[1].size())
    throw MixedSamples{"the number of axes of a tensor depends on the number of samples"};
  return result;
}

void NetworkImport::count_constant(const Imported& x) {
  const Tensor& tensor = x.known[0];
  if (x.is_of_file && constants_of_file_.insert(tensor.raw()).second) return;
  computed_count_.add_bytes(sizeof(float) * static_cast<std::uint64_t>(tensor.elements()));
}

Value NetworkImport::constant_value(const std::string& name, const Imported& x) {
  const Tensor& tensor = settled(x);
  const std::pair key(tensor.raw(), dims_of(tensor.shape()));
  if (const auto found = constants_.find(key); found != constants_.end()) return found->second;
  computed_count_.add_elements(static_cast<std::uint64_t>(tensor.elements()));
  Value made;
  if (const std::optional<float> number = only_number(tensor)) {
    made = apply(graph::fill, {},
                 {{"shape", dims_of(tensor.shape())}, {"value", static_cast<double>(*number)}});
  } else {
    count_constant(x);
    const Tensor numbers =
        tensor.dtype() == DType::f32 ? tensor : copied<double>(tensor, DType::f32);
    made = model_.constant(ModelAccess::unused_variable_name(model_, name), numbers);
  }
  kept_.push_back(tensor);
  constants_.emplace(key, made);
  return made;
}

const Tensor& NetworkImport::settled(const Imported& x) {
  if (!x.is_constant())
    throw MixedSamples{"a number that is known at import depends on the number of samples"};
  return x.known[0];
}

Value NetworkImport::value(Imported& x) {
  if (!x.is_known())
    return type(x.value).dtype == DType::f32 ? x.value : apply(graph::to_float, {x.value});
  const Tensor& tensor = settled(x);
  if (tensor.elements() == 0)
    throw Error(Errc::unsupported, "it would compute with a tensor that has no elements");
  if (!x.trainable) return constant_value(x.name.empty() ? node_name_ : x.name, x);
  const std::pair key(tensor.raw(), x.name);
  if (const auto found = parameters_.find(key); found != parameters_.end()) return found->second;
  const std::string name = ModelAccess::unused_variable_name(model_, x.name);
  const Value made = model_.parameter(name, x.known[0].shape(), Initializer::constant(0));
  model_.set_weight(name, x.known[0]);
  parameters_.emplace(key, made);
  kept_.push_back(tensor);
  return made;
}

Value NetworkImport::integers(Imported& x) {
  if (!x.is_known() && type(x.value).dtype != DType::f32) return x.value;
  return apply(graph::to_index, {value(x)});
}

Value NetworkImport::indices(Imported& x, std::int64_t size) {
  const bool has_i64 = !x.is_known() && type(x.value).dtype == DType::i64;
  return apply(graph::to_index, {has_i64 ? x.value : value(x)}, {{"size", size}});
}

Value NetworkImport::raw(Imported& x) {
  if (x.placement)
    throw NeededInputs{x.sources, "it takes a parameter or constant that depends on inputs"};
  return value(x);
}

Value NetworkImport::buffer(Imported& x) {
  if (x.placement) throw NeededInputs{x.sources, "its statistics are inputs of the graph"};
  if (!x.is_known())
    throw Error(Errc::unsupported, "its statistics are computed, and not initializers");
  count_constant(x);
  const std::string& name = x.name.empty() ? node_name_ + ".statistics" : x.name;
  return model_.constant(ModelAccess::unused_variable_name(model_, name), settled(x));
}

std::string NetworkImport::unused_name() const {
  return state_->network.unused_node_name(node_name_);
}

Imported NetworkImport::computed(const Value& value, OnnxType type,
                                 const std::optional<Placement>& placement,
                                 const std::vector<const Imported*>& from) const {
  return {.type = type, .value = value, .placement = placement, .sources = Sources::of(from)};
}

Imported NetworkImport::constant(const Tensor& tensor, OnnxType type) {
  return {.type = type, .known = {tensor, tensor}};
}

std::optional<Value> NetworkImport::repeated_row(const Imported& x, std::size_t axis) {
  if (x.is_known()) return std::nullopt;
  const graph::Graph& graph = state_->network.graph();
  const graph::NodeId producer = graph.value(state_->id("output", x.value)).producer;
  if (producer == graph::none || graph.node(producer).op != &graph::expand) return std::nullopt;
  const Value repeated = state_->value(graph.node(producer).inputs[0]);
  Dims row = shape(x.value);
  if (shape(repeated).size() != row.size() || shape(repeated)[axis] != 1) return std::nullopt;
  row[axis] = 1;
  const Value made =
      shape(repeated) == row ? repeated : apply(graph::expand, {repeated}, {{"shape", row}});
  return type(made).dtype == DType::f32 ? made : apply(graph::to_float, {made});
}

Value NetworkImport::known_row(const Imported& x, const Placement& placement) {
  if (!x.is_known() || x.trainable)
    throw MixedSamples{"an operand has a row for each of a number of samples"};
  Imported row = x;
  for (std::size_t probe = 0; probe < probes; ++probe) {
    computed_count_.add_elements(static_cast<std::uint64_t>(x.known[probe].elements()));
    row.known[probe] = rows_of_a_sample(x.known[probe], placement);
    computed_count_.add_bytes(row.known[probe].bytes());
  }
  join_equal(row.known, computed_count_);
  row.is_of_file = false;
  return value(row);
}

// The axis of the samples, if the operand has it, has one element, and is left out. The operand may
// have rows for all samples if they are the same for each of them: those of a known tensor that is
// not trained, or of one that repeats a row.
Value NetworkImport::without_samples(Imported& x, std::size_t rank, const Placement& placement) {
  const std::size_t missing = rank - this->rank(x);
  if (placement.whole || placement.axis < missing) return value(x);
  Placement row_placement = placement;
  row_placement.axis -= missing;
  const std::size_t axis = row_placement.axis;
  bool has_rows = dims(x)[0][axis] != 1;
  for (std::size_t probe = 0; probe < probes && has_rows; ++probe)
    if (dims(x)[probe][axis] != placement.outer * samples_[probe] * placement.inner)
      throw MixedSamples{"an operand has a row for each of a number of samples"};
  const std::optional<Value> repeated = has_rows ? repeated_row(x, axis) : std::nullopt;
  if (repeated) has_rows = false;
  const Value made = repeated ? *repeated : has_rows ? known_row(x, row_placement) : value(x);
  Dims dims_of_row = shape(made);
  const auto place = dims_of_row.erase(dims_of_row.begin() + static_cast<std::ptrdiff_t>(axis));
  Dims around;
  for (const std::int64_t size : {placement.outer, placement.inner})
    if (size != 1) around.push_back(has_rows ? size : 1);
  dims_of_row.insert(place, around.begin(), around.end());
  return reshaped_value(made, dims_of_row);
}

// If there is one sample, it may be said to be along any axis that has no other elements.
Value NetworkImport::placed(Imported& x, std::size_t rank, const Placement& placement) {
  const std::size_t missing = rank - this->rank(x);
  Placement shifted = *x.placement;
  if (!shifted.whole) shifted.axis += missing;
  const Value made = value(x);
  if (shifted == placement && missing == 0) return made;
  Dims dims = first_dims(x);
  dims.insert(dims.begin(), missing, 1);
  const bool is_there =
      shifted == placement ||
      (samples_ == std::array<std::int64_t, probes>{1, 1} && !shifted.whole && !placement.whole &&
       placement.axis < dims.size() && dims[placement.axis] == placement.outer * placement.inner);
  if (!is_there) throw MixedSamples{"operands have their samples along different axes"};
  Dims to = value_dims(dims, placement);
  to[0] = 0;
  return reshaped_value(made, to);
}

Value NetworkImport::aligned_operand(Imported& x, std::size_t rank, const Placement& placement) {
  return x.placement ? placed(x, rank, placement) : without_samples(x, rank, placement);
}

NetworkImport::Aligned NetworkImport::aligned(const std::vector<Imported*>& operands,
                                              std::size_t kept) {
  std::size_t rank = 0;
  for (const Imported* x : operands) rank = std::max(rank, this->rank(*x));
  Aligned result;
  for (const Imported* x : operands) {
    if (!x->placement || result.placement) continue;
    result.placement = *x->placement;
    if (!x->placement->whole) result.placement->axis += rank - this->rank(*x);
  }
  if (kept > 0 && result.placement && !result.placement->whole &&
      result.placement->axis + kept >= rank)
    throw MixedSamples{"an axis of matrices has samples"};
  for (Imported* x : operands)
    result.values.push_back(result.placement ? aligned_operand(*x, rank, *result.placement)
                                             : value(*x));
  return result;
}

// The row is added to a zero for each sample. A comparison that is false makes zeros, even of
// numbers that are not finite; one element of each sample is enough for it.
Value NetworkImport::with_samples(Imported& x, const Placement& placement) {
  if (x.placement) return placed(x, rank(x), placement);
  if (!first_input_)
    throw Error(Errc::unsupported, "the model has no input that says how many samples there are");
  const Value row = without_samples(x, rank(x), placement);
  Value like = apply(graph::slice, {reshaped_value(first_input_, {0, -1})},
                     {{"axis", std::int64_t{1}}, {"end", std::int64_t{1}}});
  if (type(like).dtype != DType::f32) like = apply(graph::to_float, {like});
  const Value zero = apply(graph::less, {like, like});
  Dims ones(shape(row).size() + 1, 1);
  ones[0] = 0;
  Dims to = shape(row);
  to.insert(to.begin(), 1);
  const Value result = apply(graph::add, {reshaped_value(row, to), reshaped_value(zero, ones)});
  if (placement.whole || placement.extra() == 0) return result;
  // A sample has a row for each place around it in the axis of the samples.
  Dims repeated = shape(result);
  repeated[0] = -1;
  std::size_t axis = placement.axis + 1;
  if (placement.outer != 1) repeated[axis++] = placement.outer;
  if (placement.inner != 1) repeated[axis] = placement.inner;
  return apply(graph::expand, {result}, {{"shape", repeated}});
}

std::int64_t NetworkImport::axis_of_value(const Imported& x, std::int64_t axis) const {
  const std::size_t number = axis_of(axis, rank(x));
  if (!x.placement) return static_cast<std::int64_t>(number);
  if (!x.placement->whole && number == x.placement->axis)
    throw MixedSamples{"it works along the axis that has the samples"};
  return static_cast<std::int64_t>(value_axis(number, *x.placement));
}

Imported NetworkImport::reshaped(Imported& x, const ProbedDims& to) {
  const Value value_of_x = x.is_known() ? value(x) : x.value;
  if (!x.placement) {
    if (to[0] != to[1]) throw MixedSamples{"a shape depends on the number of samples"};
    return computed(reshaped_value(value_of_x, to[0]), x.type, {}, {&x});
  }
  const Placement placement = penstock::reshaped_placement(*x.placement, dims(x), to, samples_);
  Dims dims = value_dims(to[0], placement);
  dims[0] = shape(value_of_x)[0];
  if (dims != shape(value_of_x)) dims[0] = 0;
  return computed(reshaped_value(value_of_x, dims), x.type, placement, {&x});
}

Imported NetworkImport::transposed(Imported& x, const Dims& order) {
  const Value value_of_x = x.is_known() ? value(x) : x.value;
  Dims sorted = order;
  for (std::int64_t& axis : sorted) axis = static_cast<std::int64_t>(axis_of(axis, order.size()));
  std::ranges::sort(sorted);
  if (std::ranges::adjacent_find(sorted) != sorted.end())
    corrupt("expected each axis once in perm");
  Dims axes;
  std::optional<Placement> placement = x.placement;
  if (placement) axes.push_back(0);
  for (std::size_t to = 0; to < order.size(); ++to) {
    const std::size_t from = axis_of(order[to], order.size());
    if (!x.placement) {
      axes.push_back(static_cast<std::int64_t>(from));
    } else if (!x.placement->whole && from == x.placement->axis) {
      for (std::size_t i = 0; i < x.placement->extra(); ++i)
        axes.push_back(static_cast<std::int64_t>(1 + from + i));
      placement->axis = to;
    } else {
      axes.push_back(static_cast<std::int64_t>(value_axis(from, *x.placement)));
    }
  }
  const Value moved = std::ranges::is_sorted(axes)
                          ? value_of_x
                          : apply(graph::transpose, {value_of_x}, {{"axes", axes}});
  return computed(moved, x.type, placement, {&x});
}

}  // namespace penstock
