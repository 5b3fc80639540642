// An Op is everything that Penstock knows about one kind of node, as plain data. Every op is
// defined in graph/ops and listed in graph/ops/list.cpp. The functions of an op have no state and
// may run on any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "graph/ir/attributes.hpp"
#include "graph/ir/graph.hpp"
#include "graph/ir/random.hpp"
#include "graph/values/part.hpp"

namespace penstock::graph {

/// An Operand is a tensor as a kernel sees it: dense, row-major and aligned to 64 bytes.
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
  /// The kernel only reads `inputs`, although an Operand lets it write.
  std::span<const Operand> inputs;
  /// The memory of `outputs` may be uninitialised. The kernel writes every element that belongs to
  /// `part`.
  std::span<const Operand> outputs;
  /// `workspace` has at least as many bytes as Op::workspace returns.
  std::span<std::byte> workspace;
  RandomKey random;
  /// `loss_scale` is the number with which the gradient of the loss starts
  /// (Optimizer::loss_scaling).
  float loss_scale = 1;
  std::int64_t summed = 0;  ///< The gradient sums have this many micro-batches in them already.
  /// `part` says which of Op::units to compute. The kernel of an op without units computes
  /// everything.
  Part part = {};
};

using Types = std::span<const TensorType>;

struct Cost {
  /// `flops` is the number of floating-point operations; a multiplication and an addition are two.
  double flops = 0;
  /// `bytes` is the number of bytes that are read and written if nothing is cached.
  double bytes = 0;

  /// Returns an estimate of the time in units of one floating-point operation: moving one byte
  /// takes about as long as four operations.
  double work() const noexcept { return flops + 4 * bytes; }
};

/// An Overwrite says that output `output` may be written over input `input` if no other node needs
/// that input any more: the kernel reads element i of the input before it writes element i of the
/// output.
struct Overwrite {
  int input;
  int output;
};

/// An Update says that output `output` is the new value of the buffer that is input `input`, such
/// as running statistics. The output has the type and the memory of that input. No other output
/// depends on that input, so that the other outputs can be computed again after the buffer has
/// changed.
struct Update {
  int input;
  int output;
};

class GradientContext;

/// An OpSample is one case for the generic tests of ops: input types, attributes, and the ranges
/// from which inputs are drawn.
struct OpSample {
  std::vector<TensorType> inputs = {};
  Attributes attributes = {};
  double low = -1;  ///< Elements of f32 inputs are drawn from [low, high).
  double high = 1;
  std::int64_t labels = 0;  ///< Elements of inputs of other types are drawn from [0, labels).
  /// `constants` are the positions of f32 inputs that get no gradient, beside Op::constant_inputs.
  std::vector<std::size_t> constants = {};
};

/// An IndexRange says which elements a node takes in its input number `input`, which is i64 or of
/// another type of integers: 0 to `end` - 1, and `other` if there is one.
struct IndexRange {
  std::size_t input;
  std::int64_t end;
  std::optional<std::int64_t> other = {};
  std::string_view element;  ///< Messages call an element of the input by this word, as "label".
};

/// A LaneUse says whether a node works in the batch-lane layout (graph/ops/rules/lane_shape.hpp).
enum class LaneUse : std::uint8_t {
  never,
  /// The node works in that layout if its first input is there in that layout, even if only another
  /// node has had it converted. The node computes the same bits in either layout.
  follows,
  /// The node works in that layout if its first input is computed in that layout.
  follows_producer,
  /// The node works in that layout if the model is trained. In inference, it does not, because what
  /// follows it is then computed together with it in the other layout.
  prefers_in_training,
  /// The node always works in that layout, which is worth the conversions around the node.
  prefers,
};

/// A PackedForm names two ops that take the place of a node whose input 1 is weights: `pack` puts
/// the weights into the order in which a kernel reads them, and `op` computes the same bits as the
/// node from packed weights. The other inputs, and the outputs, of `op` are those of the node.
struct PackedForm {
  const Op* pack;
  Attributes pack_attributes;
  const Op* op;
  Attributes attributes;
};

struct Op {
  /// `name` is the name in graphs, dumps and messages, such as "conv2d".
  std::string_view name;
  /// `onnx` is the name of the ONNX operator that computes the same, or empty if there is none.
  std::string_view onnx = "";
  /// `attributes` are those that a node may set. append() refuses any other attribute, so that a
  /// misspelt name never means the default.
  std::vector<DeclaredAttribute> attributes = {};
  /// Returns the types of the outputs for inputs of the types `inputs`.
  /// @throws Error shape_mismatch with a text such as "expected 10 input channels, got 12"; the
  /// caller puts the names of the op and of the node before that text.
  std::vector<TensorType> (*infer)(const Attributes&, Types inputs) = nullptr;
  /// Computes the outputs. The function never allocates tensor memory. The bits of the result
  /// depend on nothing but the inputs, their types, the attributes, the instruction set, and
  /// `random`, `loss_scale` and `summed` of the call.
  void (*forward)(const KernelCall&) = nullptr;
  /// Emits the nodes that compute the gradients of the inputs. Each input that needs a gradient
  /// gets one; otherwise the training is refused. Null says that the op is not differentiable.
  void (*backward)(GradientContext&) = nullptr;
  Cost (*cost)(const Attributes&, Types inputs, Types outputs) = nullptr;
  /// Returns the number of scratch bytes that `forward` needs. Null says that `forward` needs none.
  std::int64_t (*workspace)(const Attributes&, Types inputs, Types outputs) = nullptr;
  /// Returns the number of independent units that `forward` consists of, for threads to share. When
  /// `forward` computes a part of the units, it writes the outputs of that part only, with the same
  /// bits as if it computed all units. Layouts, algorithms and blocks therefore depend on the sizes
  /// of the whole tensors, not of the part. Parts run at the same time, each with a workspace of
  /// its own. Null says that the work cannot be shared among threads.
  std::int64_t (*units)(const Attributes&, Types inputs, Types outputs) = nullptr;
  std::vector<Overwrite> overwrites = {};
  std::vector<Update> updates = {};
  /// Returns the op that replaces this op when a model is compiled for inference, such as the
  /// identity for dropout. The replacement takes the first inputs of this op, as many as it needs,
  /// and gives all outputs of this op or only the first ones. Null says that the op is not
  /// replaced.
  const Op& (*inference)() = nullptr;
  /// Returns the op that computes the same in the batch-lane layout as a node with these attributes
  /// and with inputs of these types, which are those in the batch-major layout. Input 0 and all
  /// outputs of the returned op have the batch-lane layout, and the other inputs have the same
  /// layout as those of this op. Null says that this op itself works in either layout.
  const Op& (*lane_form)(const Attributes&, Types inputs) = nullptr;
  /// Returns whether a node works in the batch-lane layout, from the attributes and the types of
  /// the inputs alone. These types are those in the batch-major layout. Null says that the op never
  /// works in the batch-lane layout.
  LaneUse (*lane_use)(const Attributes&, Types inputs) = nullptr;
  /// Returns the form in which a node of inference whose weights stay the same reads packed
  /// weights, or nothing if the kernels of the node pack no weights beforehand. Null says that no
  /// node of the op has such a form.
  std::optional<PackedForm> (*packed_form)(const Attributes&, Types inputs) = nullptr;
  /// Returns cases for the generic tests of determinism, finite differences and shapes.
  std::vector<OpSample> (*samples)() = nullptr;
  /// Overwrites each input of which the op refuses some contents, such as labels that are not the
  /// number of a class. The op accepts the new contents, and has as much work with them as any
  /// inputs of these shapes can make. The function is for callers that run an op without a user's
  /// data. Null says that the op takes any contents.
  void (*make_valid)(const Attributes&, std::span<const Operand> inputs) = nullptr;
  /// Returns the ranges of those i64 inputs whose elements a forward op of a model refuses outside
  /// of a range that its attributes and types decide. If a host gives such an input, the elements
  /// are checked before a call begins, because a kernel that refuses an element ends the model.
  /// Null says that nothing is checked before a call.
  std::vector<IndexRange> (*index_ranges)(const Attributes&, Types inputs) = nullptr;
  /// `index_inputs` are the positions where the op has, or may have, an input of indices, labels or
  /// lengths, which is i64. A layer may be given u8 or i32 there: a node of to_i64 then widens it.
  std::vector<std::size_t> index_inputs = {};
  /// `constant_inputs` are the positions of f32 inputs that get no gradient, such as the weights of
  /// classes. A training is refused if such an input depends on a parameter that is trained.
  std::vector<std::size_t> constant_inputs = {};
  /// `broadcasts` says whether the inputs are repeated to one shape, as NumPy does. An op that
  /// multiplies matrices repeats the axes before the last two.
  bool broadcasts = false;
  /// `keeps_elements` says whether every element of every input is an element of output 0. What a
  /// node asks of the elements of that output, it then asks of the inputs.
  bool keeps_elements = false;
  /// `is_loss` says whether training may minimise output 0.
  bool is_loss = false;
  /// `is_relu` says whether the op computes the larger of its input and 0, element by element.
  bool is_relu = false;
  /// `relu_flag` is the flag by which a node makes the op apply relu to its output. Null says that
  /// the op has no such flag.
  const FlagAttribute* relu_flag = nullptr;
  /// Returns whether a node with these attributes takes the maximum of each square of 2x2 pixels,
  /// without overlap and padding. Output 1 then says which pixel of each square had the maximum.
  /// Null says that no node of the op does that.
  bool (*halves_image)(const Attributes&) = nullptr;
  /// Returns the op that does in one step what this op and relu do one after the other, in either
  /// order. This op is a pooling for which halves_image() is true, and output 1 of the returned op
  /// is that of the pooling. Null says that there is no such op.
  const Op& (*pooled_relu_form)() = nullptr;
  /// `enters_lanes` says whether the op brings a value into the batch-lane layout, and does nothing
  /// else.
  bool enters_lanes = false;
  /// `leaves_lanes` says whether the op brings a value back from the batch-lane layout, and does
  /// nothing else.
  bool leaves_lanes = false;
  /// `has_batch_statistics` says whether the op computes with statistics of the whole micro-batch
  /// and keeps a mean of them in buffers. If so, each replica has statistics, and such buffers, of
  /// its own.
  bool has_batch_statistics = false;
  /// `keeps_state` says whether the op changes its buffers in inference, and each call goes on from
  /// what the call before left in them. Such an op is for inference only.
  bool keeps_state = false;
  /// `runs_code_of_host` says whether the op calls functions of the host's, which are given nothing
  /// but what the host's own inputs make.
  bool runs_code_of_host = false;
  /// `stops_gradient` says whether the outputs count as constants for training, whatever they are
  /// computed from.
  bool stops_gradient = false;
};

/// A GradientContext gives an op's `backward` the node to differentiate, and functions to emit
/// nodes.
class GradientContext {
 public:
  GradientContext(Graph& graph, NodeId node, std::vector<ValueId> output_gradients,
                  std::vector<bool> needed);

  const Attributes& attributes() const { return attributes_; }
  ValueId input(std::size_t i) const { return graph_.node(node_).inputs[i]; }
  ValueId output(std::size_t i) const { return graph_.node(node_).outputs[i]; }
  std::size_t input_count() const { return graph_.node(node_).inputs.size(); }
  /// Returns a copy, because emit() moves the types of all values elsewhere.
  TensorType type(ValueId value) const { return graph_.type(value); }
  /// Returns the gradient of output i, or `none` if the loss does not depend on that output in a
  /// differentiable way.
  ValueId gradient(std::size_t i) const { return output_gradients_[i]; }
  /// Returns whether the gradient of input i is needed.
  bool needs(std::size_t i) const { return needed_[i]; }

  /// Appends a backward node and returns output number `output` of that node.
  ValueId emit(const Op& op, std::vector<ValueId> inputs, Attributes attributes = {},
               std::size_t output = 0);
  /// Appends a backward node and returns all outputs of that node.
  std::vector<ValueId> emit_all(const Op& op, std::vector<ValueId> inputs,
                                Attributes attributes = {});
  /// Makes `gradient`, a value of the type of input i, the gradient of that input.
  void set(std::size_t i, ValueId gradient) { input_gradients_[i] = gradient; }

  const std::vector<ValueId>& input_gradients() const { return input_gradients_; }

 private:
  Graph& graph_;
  NodeId node_;
  Attributes attributes_;  ///< These are copies, because emit() moves all nodes elsewhere.
  std::vector<ValueId> output_gradients_;
  std::vector<bool> needed_;
  std::vector<ValueId> input_gradients_;
};

}  // namespace penstock::graph
