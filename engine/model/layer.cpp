#include "engine/model/layer.hpp"
#include "graph/ops/arithmetic/arithmetic.hpp"
#include "graph/ops/movement/rearrange.hpp"
#include "graph/ops/rules/expect.hpp"
#include "graph/values/text.hpp"

namespace penstock {

Layer::Layer(NetworkBuilder& network, const graph::Op& op, const std::string& name,
             graph::ValueId x, std::string input)
    : network_(network),
      op_(op),
      name_(name),
      node_name_(name),
      input_(std::move(input)),
      inputs_{x},
      shape_(network.graph().type(inputs_.front()).shape),
      draft_(network) {
  network.expect_new_layer(op.name, name);
  // The check comes before the parameters, because their shapes and initial values depend on the
  // shape of x.
  expect(shape_.elements() > 0,
         graph::elements_refusal(input_, to_string(network.graph().type(x))));
}

void Layer::expect(bool holds, const std::string& text) const {
  if (holds) return;
  throw Error(Errc::shape_mismatch, std::string(op_.name) + " " + quoted_text(name_) + ": " + text);
}

void Layer::expect_positive(const std::string& what, std::int64_t number) const {
  expect(number >= 1, "expected " + what + " of 1 or more, got " + std::to_string(number));
}

void Layer::expect_rank(std::size_t rank) const {
  expect(shape_.rank() == rank, graph::rank_refusal(input_ + " of rank " + std::to_string(rank),
                                                    to_string(shape_), shape_));
}

void Layer::expect_rank_from(std::size_t rank) const {
  expect(shape_.rank() >= rank,
         graph::rank_refusal(input_ + " of rank " + std::to_string(rank) + " or more",
                             to_string(shape_), shape_));
}

void Layer::parameter(const std::string& suffix, const std::vector<std::int64_t>& dims,
                      const Initializer& initializer) {
  inputs_.push_back(variable(suffix, dims, initializer, graph::ValueKind::parameter));
}

void Layer::reshaped_parameter(const std::string& suffix, const std::vector<std::int64_t>& dims,
                               const Initializer& initializer, std::vector<std::int64_t> seen) {
  const graph::ValueId value = variable(suffix, dims, initializer, graph::ValueKind::parameter);
  inputs_.push_back(
      network_.node(graph::reshape, {value}, {{"shape", std::move(seen)}}, name_ + "/" + suffix));
}

void Layer::leading_parameter(const std::string& suffix, const std::vector<std::int64_t>& dims,
                              const Initializer& initializer) {
  inputs_.insert(inputs_.begin(), variable(suffix, dims, initializer, graph::ValueKind::parameter));
}

void Layer::buffer(const std::string& suffix, const std::vector<std::int64_t>& dims,
                   const Initializer& initializer) {
  inputs_.push_back(variable(suffix, dims, initializer, graph::ValueKind::buffer));
}

void Layer::filled(const std::vector<std::int64_t>& dims, double number) {
  inputs_.push_back(network_.node(graph::fill, {}, {{"shape", dims}, {"value", number}}));
}

graph::ValueId Layer::finish(graph::Attributes attributes) {
  const graph::ValueId result =
      network_.node(op_, std::move(inputs_), std::move(attributes), node_name_);
  draft_.keep();
  return result;
}

graph::ValueId Layer::variable(const std::string& suffix, const std::vector<std::int64_t>& dims,
                               const Initializer& initializer, graph::ValueKind kind) {
  Shape shape;
  try {
    shape = Shape(dims);
  } catch (const Error& error) {
    expect(false, suffix + ": " + error.what());
  }
  return network_.variable(name_ + "." + suffix, shape, initializer, kind);
}

}  // namespace penstock
