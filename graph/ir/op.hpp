// An Op is everything that Penstock knows about one kind of node, as plain data. Every op lies in
// graph/ops and is listed there. Its functions have no state and may run on any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "graph/ir/attributes.hpp"
#include "graph/ir/graph.hpp"
#include "graph/ir/random.hpp"
#include "graph/values/part.hpp"

namespace penstock::graph {

/// Is a tensor as a kernel sees it: dense, row-major and aligned to 64 bytes.
struct Operand {
  const TensorType* type = nullptr;
  void* data = nullptr;

  const Shape& shape() const noexcept { return type->shape; }
  std::int64_t elements() const noexcept { return type->shape.elements(); }
  std::span<float> f32() const noexcept {
    return {static_cast<float*>(data), static_cast<std::size_t>(elements())};
  }
  std::span<std::int64_t> i64() const noexcept {
    return {static_cast<std::int64_t*>(data), static_cast<std::size_t>(elements())};
  }
};

struct KernelCall {
  const Attributes& attributes;
  std::span<const Operand> inputs;  ///< Are only read, although an Operand allows more.
  /// Are uninitialised; the kernel writes every element of the part.
  std::span<const Operand> outputs;
  std::span<std::byte> workspace;  ///< Has as many bytes as the op's `workspace` has asked for.
  RandomKey random;
  float loss_scale = 1;     ///< Is what the gradient of the loss starts with.
  std::int64_t summed = 0;  ///< Counts the micro-batches that the gradient sums hold already.
  /// Is the part of the op's `units` to compute, and everything if the op has none.
  Part part = {};
};

using Types = std::span<const TensorType>;

struct Cost {
  double flops = 0;  ///< Counts a multiplication and an addition as two.
  double bytes = 0;  ///< Counts what is read and written if nothing is cached.

  /// Estimates the time in units of one floating-point operation: moving a byte takes about as long
  /// as four of them.
  double work() const noexcept { return flops + 4 * bytes; }
};

/// Says that output `output` may be written over input `input` if nobody else needs that input any
/// more: the kernel reads element i of the input before it writes element i of the output.
struct Overwrite {
  int input;
  int output;
};

/// Says that output `output` is the new value of the buffer that is input `input`, such as running
/// statistics: it has the same type and the same memory. No other output depends on that input, so
/// that the others can be computed again when the buffer has changed.
struct Update {
  int input;
  int output;
};

class GradientContext;

/// Is one case for the generic op tests: input types, attributes, and the range that inputs are
/// drawn from.
struct OpSample {
  std::vector<TensorType> inputs = {};
  Attributes attributes = {};
  double low = -1;  ///< Elements of f32 inputs are drawn from [low, high).
  double high = 1;
  std::int64_t labels = 0;  ///< Elements of i64 inputs are drawn from [0, labels).
  /// Has the f32 inputs that get no gradient by definition.
  std::vector<std::size_t> constants = {};
};

/// Says whether a node works in the batch-lane layout (graph/ops/rules/lane_shape.hpp).
enum class LaneUse : std::uint8_t {
  never,
  follows,  ///< The node does so if its first input is in that layout already.
  prefers,  ///< The node always does so, as that is worth the conversions around it.
};

struct Op {
  /// Is the name in graphs, dumps and messages, such as "conv2d".
  std::string_view name;
  /// Is the name of the ONNX operator that does the same; empty if there is none.
  std::string_view onnx = "";
  /// Declares the attributes that a node may set. append() refuses any other, so that a misspelt
  /// name never means the default.
  std::vector<DeclaredAttribute> attributes = {};
  /// Returns the types of the outputs for those of the inputs.
  /// @throws Error shape_mismatch with a text such as "expected 10 input channels, got 12"; the
  /// caller puts the names of the op and of the node before it.
  std::vector<TensorType> (*infer)(const Attributes&, Types inputs) = nullptr;
  /// Computes the outputs. It never allocates tensor memory, and the bits of the result depend on
  /// nothing but inputs, types, attributes, random key and the numbers of the call.
  void (*forward)(const KernelCall&) = nullptr;
  /// Emits the nodes that compute the gradients of the inputs. Null says that the op is not
  /// differentiable.
  void (*backward)(GradientContext&) = nullptr;
  Cost (*cost)(const Attributes&, Types inputs, Types outputs) = nullptr;
  /// Returns the scratch bytes that `forward` needs. Null says that it needs none.
  std::int64_t (*workspace)(const Attributes&, Types inputs, Types outputs) = nullptr;
  /// Returns the number of independent units that `forward` consists of, for threads to share.
  /// Whichever part of them `forward` computes, it writes the outputs of that part only, with the
  /// bits that the whole would give them. Layouts, algorithms and blocks therefore depend on the
  /// sizes of the whole, not of the part. Parts run at the same time, each with a workspace of its
  /// own. Null says that the work is not to be shared.
  std::int64_t (*units)(const Attributes&, Types inputs, Types outputs) = nullptr;
  std::vector<Overwrite> overwrites = {};
  std::vector<Update> updates = {};
  /// Returns what the op becomes when a model is compiled for inference. The replacement takes the
  /// leading inputs that it needs and gives a prefix of the outputs; dropout becomes the identity.
  /// Null says that the op stays itself.
  const Op& (*inference)() = nullptr;
  /// Returns the op that does the same in the batch-lane layout, which input 0 and all outputs then
  /// have, while the other inputs stay as they are. Null says that the op itself does so.
  /// `lane_use` says whether to use it, from the attributes and the types of the batch-major inputs
  /// alone. Null says that it is never used.
  const Op& (*lane_form)() = nullptr;
  LaneUse (*lane_use)(const Attributes&, Types inputs) = nullptr;
  /// Returns cases for the generic tests of determinism, finite differences and shapes.
  std::vector<OpSample> (*samples)() = nullptr;
  /// Overwrites those inputs of which the op refuses some contents, such as labels that are no
  /// class. The new contents are accepted, and give the op as much work as inputs of these shapes
  /// can. It serves whoever runs an op without a user's data. Null says that the op takes any
  /// contents.
  void (*make_valid)(const Attributes&, std::span<const Operand> inputs) = nullptr;
  /// Says whether output 0 is what training may minimise.
  bool is_loss = false;
  /// Says whether the op computes the larger of its input and 0, element by element.
  bool is_relu = false;
  /// Is the flag by which a node makes the op apply relu to its output. Null says that it never
  /// does so.
  const FlagAttribute* relu_flag = nullptr;
  /// Returns whether a node pools the maximum of squares of 2x2 pixels that lie side by side, with
  /// the winners as output 1. Null says that the op never does.
  bool (*halves_image)(const Attributes&) = nullptr;
  /// Returns the op that does the same and then what an op with halves_image() and relu do, in
  /// either order, with the winners as output 1. Null says that there is none.
  const Op& (*pooled_relu_form)() = nullptr;
  /// Says whether the op brings a value into the batch-lane layout, and does nothing else.
  bool enters_lanes = false;
  /// Says whether the op brings a value back from the batch-lane layout, and does nothing else.
  bool leaves_lanes = false;
  /// Says whether the op computes with statistics of the whole micro-batch and keeps a mean of them
  /// in buffers. Each replica then has statistics, and such buffers, of its own.
  bool has_batch_statistics = false;
};

/// Gives an op's `backward` the node, and a way to emit more nodes.
class GradientContext {
 public:
  GradientContext(Graph& graph, NodeId node, std::vector<ValueId> output_gradients,
                  std::vector<bool> needed);

  const Attributes& attributes() const { return graph_.node(node_).attributes; }
  ValueId input(std::size_t i) const { return graph_.node(node_).inputs[i]; }
  ValueId output(std::size_t i) const { return graph_.node(node_).outputs[i]; }
  std::size_t input_count() const { return graph_.node(node_).inputs.size(); }
  const TensorType& type(ValueId value) const { return graph_.type(value); }
  /// Returns the gradient of output i, or `none` if nothing that follows depends on that output
  /// differentiably.
  ValueId gradient(std::size_t i) const { return output_gradients_[i]; }
  /// Returns whether anybody wants the gradient of input i.
  bool needs(std::size_t i) const { return needed_[i]; }

  /// Appends a backward node and returns its output number `output`.
  ValueId emit(const Op& op, std::vector<ValueId> inputs, Attributes attributes = {},
               std::size_t output = 0);
  /// Appends a backward node and returns all its outputs.
  std::vector<ValueId> emit_all(const Op& op, std::vector<ValueId> inputs,
                                Attributes attributes = {});
  /// States the gradient of input i; it has the input's type.
  void set(std::size_t i, ValueId gradient) { input_gradients_[i] = gradient; }

  const std::vector<ValueId>& input_gradients() const { return input_gradients_; }

 private:
  Graph& graph_;
  NodeId node_;
  std::vector<ValueId> output_gradients_;
  std::vector<bool> needed_;
  std::vector<ValueId> input_gradients_;
};

}  // namespace penstock::graph
