// A Layer adds a node with parameters of its own to a network, within one call of the model. If
// finish() is not reached, all that was added is taken back. One thread uses it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/model/network_builder.hpp"

namespace penstock {

class Layer {
 public:
  /// Begins a node that `op` computes from the value `x` and from parameters that are added later.
  /// Refusals call `x` by the name `input`.
  /// @throws Error invalid_model if a layer must not be called `name`; as expect(), if `x` has no
  /// element.
  Layer(NetworkBuilder& network, const graph::Op& op, const std::string& name, graph::ValueId x,
        std::string input);

  /// Returns the shape of x, for one sample.
  const Shape& shape() const noexcept { return shape_; }
  /// Checks that `holds` is true. @throws Error shape_mismatch, whose text is `text` behind the
  /// op's and the layer's name, if it is not.
  void expect(bool holds, const std::string& text) const;
  /// Checks that `number`, which is called `what`, is 1 or more. @throws Error as expect().
  void expect_positive(const std::string& what, std::int64_t number) const;
  /// Checks that x has `rank` dimensions. @throws Error as expect().
  void expect_rank(std::size_t rank) const;
  /// Checks that x has at least `rank` dimensions. @throws Error as expect().
  void expect_rank_from(std::size_t rank) const;

  /// Adds the value `value` to the op's inputs.
  void input(graph::ValueId value) { inputs_.push_back(value); }
  /// Adds a parameter of shape `dims` to the op's inputs. Its name is the layer's name, a dot and
  /// `suffix`. @throws Error as expect().
  void parameter(const std::string& suffix, const std::vector<std::int64_t>& dims,
                 const Initializer& initializer);
  /// Does what parameter() does, but puts the parameter before all inputs that are there.
  void leading_parameter(const std::string& suffix, const std::vector<std::int64_t>& dims,
                         const Initializer& initializer);
  /// Does what parameter() does, but gives the op the parameter in the shape `seen`, in which 0
  /// keeps a dimension and -1 stands for whatever is left.
  void reshaped_parameter(const std::string& suffix, const std::vector<std::int64_t>& dims,
                          const Initializer& initializer, std::vector<std::int64_t> seen);
  /// Adds a parameter as parameter() does, but not to the op's inputs, and returns it.
  graph::ValueId free_parameter(const std::string& suffix, const std::vector<std::int64_t>& dims,
                                const Initializer& initializer) {
    return variable(suffix, dims, initializer, graph::ValueKind::parameter);
  }
  /// Does what parameter() does, but for a tensor that is not trained.
  void buffer(const std::string& suffix, const std::vector<std::int64_t>& dims,
              const Initializer& initializer);

  /// Adds a tensor of shape `dims` whose elements are all `number` to the op's inputs.
  void filled(const std::vector<std::int64_t>& dims, double number);

  /// Gives the node the name `name`, if a later node of the layer has the layer's own name.
  void call_node(std::string name) { node_name_ = std::move(name); }

  /// Appends the node and returns its first output.
  graph::ValueId finish(graph::Attributes attributes);

 private:
  graph::ValueId variable(const std::string& suffix, const std::vector<std::int64_t>& dims,
                          const Initializer& initializer, graph::ValueKind kind);

  NetworkBuilder& network_;
  const graph::Op& op_;
  std::string name_, node_name_;
  std::string input_;  ///< This is the name of x in refusals.
  std::vector<graph::ValueId> inputs_;
  Shape shape_;
  NetworkBuilder::Draft draft_;
};

}  // namespace penstock
