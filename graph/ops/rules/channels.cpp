#include "graph/ops/rules/channels.hpp"

#include "graph/ops/rules/expect.hpp"

namespace penstock::graph {

void expect_groups(std::int64_t channels, std::int64_t groups, const std::string& which) {
  expect(groups >= 1, "expected groups of at least 1, got " + std::to_string(groups));
  expect(channels % groups == 0, "expected a number of " + which + " channels that divides into " +
                                     std::to_string(groups) + " groups, got " +
                                     std::to_string(channels));
}

void expect_image(const TensorType& type, std::string_view name) {
  expect_dtype(type, DType::f32, name);
  expect_rank(type, 4, name);
}

}  // namespace penstock::graph
