// These tests write random networks as ONNX files, and compare what they compute when they are read
// again.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "engine/model/model_access.hpp"
#include "graph/ir/op.hpp"
#include "tests/e2e/configurations/random_graphs.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/support/temporary_directory.hpp"

namespace penstock::testing {
namespace {

/// Returns the outputs of a model for those of the network's inputs that it has.
Tensor result(const Model& model, const std::vector<Tensor>& samples, std::int64_t count) {
  InferenceModel inference(model, {.batch_size = static_cast<int>(count)});
  const auto inputs = static_cast<std::ptrdiff_t>(inference.inputs().size());
  const std::vector<Tensor> known(samples.begin(), samples.begin() + inputs);
  return inference.run(known).output("out");
}

/// Returns the largest difference of two tensors, as a share of the largest number.
double difference(const Tensor& got, const Tensor& expected) {
  double apart = 0, largest = 1;
  for (std::size_t i = 0; i < static_cast<std::size_t>(expected.elements()); ++i) {
    const double a = got.as<float>()[i], b = expected.as<float>()[i];
    if (std::isnan(a) && std::isnan(b)) continue;
    apart = std::max(apart, std::abs(a - b));
    largest = std::max(largest, std::abs(b));
  }
  return apart / largest;
}

/// Returns whether a norm of the model mixes samples in inference, too, so that its file is none of
/// samples that stay apart.
bool mixes_samples(const Model& model) {
  return std::ranges::any_of(ModelAccess::graph(model).nodes, [](const graph::Node& node) {
    return node.op->has_batch_statistics && !node.op->inference;
  });
}

TEST(ExportedGraphs, ComputeTheSameForAnyNumberOfSamples) {
  const TemporaryDirectory directory;
  const std::string path = (directory / "network.onnx").string();
  for (std::uint32_t seed = 0; seed < (sanitized ? 10u : 150u); ++seed) {
    const SmallNetwork network = random_graph(seed);
    SCOPED_TRACE(network.name);
    const Model model = network.build({});
    ASSERT_NO_THROW(model.save_onnx(path));
    if (mixes_samples(model)) continue;
    const Model read = Model::from_onnx(path);
    for (const std::int64_t count : {1, 4}) {
      const std::vector<Tensor> samples = network.samples(count);
      const Tensor got = result(read, samples, count), expected = result(model, samples, count);
      ASSERT_EQ(got.shape(), expected.shape());
      EXPECT_LE(difference(got, expected), 1e-4) << count << " samples";
    }
  }
}

}  // namespace
}  // namespace penstock::testing
