#include "graph/ops/rules/lane_shape.hpp"

#include <string>

#include "graph/ops/rules/expect.hpp"

namespace penstock::graph {

Shape lane_shape(const Shape& batch_major) {
  std::vector<std::int64_t> dims(batch_major.begin(), batch_major.end());
  dims[0] = lanes_for(dims[0]) / lane_count;
  dims.push_back(lane_count);
  return Shape(dims);
}

Shape batch_shape(const Shape& lanes, std::int64_t batch) {
  std::vector<std::int64_t> dims(lanes.begin(), lanes.end());
  dims[0] = batch;
  dims.pop_back();
  return Shape(dims);
}

void expect_lanes(const TensorType& type, std::size_t rank, std::string_view name) {
  expect_dtype(type, DType::f32, name);
  expect_rank(type, rank, name);
  expect(type.shape[-1] == lane_count, "expected " + std::string(name) + " with " +
                                           std::to_string(lane_count) +
                                           " lanes in the last dimension, got " + to_string(type));
}

std::int64_t lane_batch(const Attributes& attributes, const Shape& lanes) {
  const std::int64_t blocks = lanes[0], most = blocks * lane_count;
  const std::int64_t batch = attribute::batch.of(attributes, most);
  expect(batch >= 0 && batch <= most && batch > most - lane_count,
         "expected a batch that fills " + std::to_string(blocks) + " blocks of " +
             std::to_string(lane_count) + ", got " + std::to_string(batch));
  return batch;
}

void expect_full_lanes(const Attributes& attributes, const Shape& lanes) {
  const std::int64_t samples = lane_batch(attributes, lanes);
  expect(samples == lanes[0] * lane_count,
         "expected a sample in every lane, got " + std::to_string(samples) + " samples");
}

}  // namespace penstock::graph
