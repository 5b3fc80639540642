#include "graph/ops/losses/class_labels.hpp"

#include <string>

#include "graph/ops/rules/expect.hpp"
#include "penstock/error.hpp"

namespace penstock::graph {

void expect_labelled(Types in, std::string_view name) {
  expect_inputs(in, 2, std::string(name) + ", labels");
  expect_dtype(in[0], DType::f32, name);
  expect_rank_from(in[0], 2, name);
  expect_elements(in[0], name);
  expect_dtype(in[1], DType::i64, "labels");
  expect_shape(in[1], without_axis(in[0].shape, 1), "labels");
}

void fill_labels(const Attributes& attributes, const Operand& labels, std::int64_t classes) {
  const std::int64_t ignored = attribute::ignore_index.of(attributes);
  std::int64_t next = 0;
  for (std::int64_t& label : labels.i64()) {
    // If the ignored class is the only class, it is used nevertheless.
    if (next == ignored) next = (next + 1) % classes;
    label = next;
    next = (next + 1) % classes;
  }
}

void fill_labels_of_scores(const Attributes& attributes, std::span<const Operand> inputs) {
  fill_labels(attributes, inputs[1], inputs[0].shape()[1]);
}

std::vector<IndexRange> ranges_of_labels(const Attributes& attributes, Types inputs) {
  return {{.input = 1,
           .end = inputs[0].shape[1],
           .other = attribute::ignore_index.of(attributes),
           .element = "label"}};
}

ClassLabels::ClassLabels(const Attributes& attributes, const Operand& labels, const Shape& scores)
    : lines_(lines_along(scores, 1)),
      labels_(labels.i64().data()),
      ignore_index_(attribute::ignore_index.of(attributes)) {
  for (std::int64_t i = 0; i < size(); ++i) {
    if (ignored(i)) continue;
    check(i);
    ++counted_;
  }
}

void ClassLabels::check(std::int64_t i) const {
  if (labels_[i] >= 0 && labels_[i] < classes()) return;
  throw Error(Errc::invalid_data, "label " + std::to_string(labels_[i]) + " at sample " +
                                      std::to_string(i / lines_.inner) + ": expected 0 to " +
                                      std::to_string(classes() - 1));
}

}  // namespace penstock::graph
