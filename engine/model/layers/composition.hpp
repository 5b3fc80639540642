// A Composition is a layer that is made of several ops: a method of Model adds them inside one call
// of the model, all or none. Its checks name the layer, and know that axis 0 counts the samples of
// a micro-batch.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/model/model_state.hpp"
#include "graph/ops/arithmetic/arithmetic.hpp"
#include "graph/ops/movement/rearrange.hpp"
#include "graph/ops/rules/expect.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"

namespace penstock {

using Integers = std::vector<std::int64_t>;

class Composition {
 public:
  Composition(ModelState& model, std::string_view layer)
      : model_(model), layer_(layer), draft_(model.network) {}

  /// Returns what messages call the layer.
  std::string_view subject() const noexcept { return layer_; }
  graph::ValueId id(const Value& x) const { return model_.id(layer_, x); }
  graph::TensorType type(Value x) const { return model_.network.graph().type(id(x)); }
  Shape shape(Value x) const { return type(x).shape; }

  /// Adds a node, which gets a name that is not in use if `name` is empty.
  Value apply(const graph::Op& op, const std::vector<Value>& inputs,
              graph::Attributes attributes = {}, const std::string& name = "") const {
    return model_.apply(op, inputs, std::move(attributes), name);
  }
  /// Adds a node that gives `x` the shape `dims`, in which 0 keeps the dimension of x and -1 stands
  /// for whatever is left. The node is named as by apply().
  Value reshaped(const Value& x, Integers dims, const std::string& name = "") const {
    return apply(graph::reshape, {x}, {{"shape", std::move(dims)}}, name);
  }
  /// Adds a tensor without axes that holds `value`.
  Value number(double value) const { return apply(graph::fill, {}, {{"value", value}}); }
  /// Adds a parameter, whose whole name is `name`.
  Value parameter(const std::string& name, const Shape& shape,
                  const Initializer& initializer) const {
    return model_.value(
        model_.network.variable(name, shape, initializer, graph::ValueKind::parameter));
  }

  /// Says that the node that computes `made` takes no other size than that of its input now,
  /// because its attributes were computed from that size. Returns `made`.
  Value fixed(Value made) const {
    model_.network.fix_size(id(made));
    return made;
  }

  /// Returns output number `number` of the node that computes `first`, its first output.
  Value other_output(Value first, std::size_t number) const {
    const graph::Graph& graph = model_.network.graph();
    const graph::NodeId node = graph.value(model_.id(layer_, first)).producer;
    return model_.value(graph.node(node).outputs[number]);
  }

  /// Checks that a layer of the kind `kind` may be called `name`. @throws Error invalid_model.
  void expect_new(std::string_view kind, const std::string& name) const {
    model_.network.expect_new_layer(kind, name);
  }
  /// Throws Error shape_mismatch with the name of the layer and `text` if `holds` is false.
  void expect(bool holds, const std::string& text) const {
    if (!holds) throw Error(Errc::shape_mismatch, std::string(layer_) + ": " + text);
  }
  /// Checks that `number`, which is called `what`, is 1 or more. @throws Error as expect().
  void expect_positive(const std::string& what, std::int64_t number) const {
    expect(number >= 1, "expected " + what + " of 1 or more, got " + std::to_string(number));
  }
  /// Checks that `x` has `rank` dimensions. @throws Error as expect().
  void expect_rank(Value x, std::size_t rank, const std::string& name = "x") const {
    expect(shape(x).rank() == rank, graph::rank_refusal(name + " of rank " + std::to_string(rank),
                                                        to_string(shape(x)), shape(x)));
  }
  /// Checks that `x`, which is called `name`, is not empty. @throws Error as expect().
  void expect_elements(const Value& x, const std::string& name = "x") const {
    expect(shape(x).elements() > 0, graph::elements_refusal(name, to_string(type(x))));
  }
  /// Returns axis number `axis` of `rank` axes, counted from the front. A negative axis counts from
  /// the end. @throws Error shape_mismatch if there is no such axis, or if it counts the samples.
  std::size_t sample_axis(std::int64_t axis, std::size_t rank) const {
    const auto count = static_cast<std::int64_t>(rank);
    expect(axis >= -count && axis < count,
           count < 2 ? "expected x of rank 2 or more, got rank " + std::to_string(count)
                     : "expected axis from " + std::to_string(-count) + " to " +
                           std::to_string(count - 1) + ", got " + std::to_string(axis));
    expect(
        axis != 0 && axis != -count,
        "expected an axis behind axis 0, which counts samples, got axis " + std::to_string(axis));
    return static_cast<std::size_t>(axis < 0 ? axis + count : axis);
  }
  std::size_t sample_axis(std::int64_t axis, Value x) const {
    return sample_axis(axis, shape(x).rank());
  }

  /// Keeps what was added, and gives new parameters their initial values. If keep() is not called,
  /// the destructor takes back everything that was added.
  void keep() {
    model_.add_weights(model_.new_weights());
    draft_.keep();
  }

 private:
  ModelState& model_;
  std::string_view layer_;
  NetworkBuilder::Draft draft_;
};

/// Adds the layer `layer`, a literal, in one call of the model: `action` is given a Composition,
/// and its result is returned.
auto composed(ModelState& model, std::string_view layer, const auto& action) {
  return model.adding(layer, [&](ModelState& kept) {
    Composition composition(kept, layer);
    auto result = action(composition);
    composition.keep();
    return result;
  });
}

/// Does what the other composed() does for a layer called `name`, which messages then name, too.
auto composed(ModelState& model, std::string_view layer, const std::string& name,
              const auto& action) {
  return model.adding(layer, name, [&](ModelState& kept) {
    const std::string subject = std::string(layer) + " " + quoted_text(name);
    Composition composition(kept, subject);
    auto result = action(composition);
    composition.keep();
    return result;
  });
}

}  // namespace penstock
