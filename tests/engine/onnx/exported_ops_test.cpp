// These tests write each op that a file can have, and read it again.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>

#include "engine/onnx/export/export_graph.hpp"
#include "engine/onnx/export/op_exports.hpp"
#include "engine/onnx/format/write_onnx_file.hpp"
#include "graph/ops/list.hpp"
#include "penstock/onnx.hpp"
#include "tests/support/op_call.hpp"
#include "tests/support/random_tensor.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/same_bits.hpp"
#include "tests/support/temporary_directory.hpp"

namespace penstock::testing {
namespace {

/// Returns the positions of those inputs of an op that are parameters in models.
std::set<std::size_t> parameters_of(const graph::Op& op, const graph::OpSample& sample) {
  static const std::map<std::string_view, std::set<std::size_t>> positions{
      {"batch_norm_inference", {1, 2, 3, 4}},
      {"conv2d", {1, 2}},
      {"conv_transpose2d", {1}},
      {"cross_entropy", {2}},
      {"embedding", {0}},
      {"group_norm", {1, 2}},
      {"layer_norm", {1, 2}},
      {"linear", {1, 2}},
      {"nll_loss", {2}},
      {"prelu", {1}},
      {"rms_norm", {1}},
      {"to_float", {1, 2}},
      {"untracked_batch_norm", {1, 2}},
  };
  if (op.name == "lstm" || op.name == "gru" || op.name == "rnn")
    return sample.attributes.flag("bias") ? std::set<std::size_t>{1, 2} : std::set<std::size_t>{1};
  if (op.name == "attention" && sample.attributes.flag("attn_mask"))
    return {sample.inputs.size() - 1};
  const auto found = positions.find(op.name);
  return found == positions.end() ? std::set<std::size_t>{} : found->second;
}

/// Returns how many outputs of an op models read. The others are for the gradient.
std::size_t outputs_of(const graph::Op& op) {
  if (op.name == "lstm") return 3;
  return op.name == "gru" || op.name == "rnn" || op.name == "sort" ? 2 : 1;
}

/// Returns by how much numbers may differ. These ops are written as formulas of other operators, or
/// have a number that a file only has in single precision. All others compute the same bits.
double tolerance_of(const graph::Op& op) {
  static const std::set<std::string_view> formulas{"attention",
                                                   "batch_norm_inference",
                                                   "binary_cross_entropy",
                                                   "binary_cross_entropy_with_logits",
                                                   "clipped_log",
                                                   "elu",
                                                   "gelu",
                                                   "gelu_tanh",
                                                   "group_norm",
                                                   "hardsigmoid",
                                                   "huber_loss",
                                                   "interpolate",
                                                   "kl_div_loss",
                                                   "layer_norm",
                                                   "logsigmoid",
                                                   "matmul",
                                                   "mean",
                                                   "mish",
                                                   "mse_loss",
                                                   "rms_norm",
                                                   "rotary_embedding",
                                                   "rsqrt",
                                                   "silu",
                                                   "smooth_l1_loss",
                                                   "soft_margin_loss",
                                                   "softplus",
                                                   "untracked_batch_norm",
                                                   "vector_norm"};
  return formulas.contains(op.name) ? 2e-6 : 0;
}

/// Returns why run_onnx() cannot run the file of a sample, or an empty text.
std::string unreadable(const graph::Op& op, const graph::OpSample& sample) {
  if (op.name == "scatter_add") return "the import has no ScatterElements";
  if (op.name == "to_i64") return "the import gives no output of i64 that it computes from u8";
  if (op.name == "gather") return "the import gathers along other axes than that of samples";
  if (op.name == "index_select" && !sample.attributes.has("indices"))
    return "the import gives no result without elements";
  return "";
}

/// Returns whether ONNX has no form for a sample of an op that it has other forms for.
bool is_refused(const graph::OpSample& sample) {
  return sample.attributes.real("label_smoothing") != 0;
}

/// An OpFile is the file of a model that has one node.
class OpFile {
 public:
  OpFile(const graph::Op& op, const graph::OpSample& sample)
      : op_(op), call_{&op, sample.attributes, draw_inputs(op, sample, 7)} {
    const std::set<std::size_t> parameters = parameters_of(op, sample);
    std::vector<graph::ValueId> inputs;
    for (std::size_t i = 0; i < call_.inputs.size(); ++i) {
      const Shape& shape = call_.inputs[i].shape();
      const bool has_samples = shape.rank() > 0 && (batch_ == 0 || shape[0] == batch_);
      inputs.push_back(add(i, !parameters.contains(i) && has_samples));
      if (!parameters.contains(i) && has_samples) batch_ = shape[0];
    }
    const graph::NodeId node = graph::append(graph_, op, inputs, sample.attributes, "layer");
    for (std::size_t i = 0; i < outputs_of(op); ++i)
      graph_.outputs.push_back(
          {.name = "y" + std::to_string(i), .value = graph_.node(node).outputs[i]});
  }

  /// Writes the file for `batch` samples, or for any number if that is 0.
  void write(std::int64_t batch) const {
    const ExportedGraph graph =
        export_graph({.model = graph_,
                      .weight = [&](const std::string& name) { return weights_.at(name); },
                      .batch = batch});
    write_file(path(), bytes_of(onnx_message(graph.file)));
  }
  std::string path() const { return (directory_ / "op.onnx").string(); }

  std::int64_t batch() const { return batch_; }
  /// Returns whether the op itself takes another number of samples.
  bool takes_other_batches() const {
    if (batch_ == 0) return false;
    try {
      for (const std::int64_t other : {2, 3}) graph::with_batch(graph_, other);
      return true;
    } catch (const Error&) {
      return false;
    }
  }

  void expect_same_results() const { expect_same_results(inputs_, call_); }
  /// Expects the same results of the file and the op without the last sample.
  void expect_same_results_of_fewer() const {
    std::vector<NamedTensor> inputs = inputs_;
    OpCall call = call_;
    call.attributes = graph::with_batch(graph_, batch_ - 1).nodes[0].attributes;
    for (NamedTensor& input : inputs) {
      input.tensor = input.tensor.rows(0, batch_ - 1);
      call.inputs[std::stoul(input.name.substr(1))] = input.tensor;
    }
    expect_same_results(inputs, call);
  }

 private:
  void expect_same_results(const std::vector<NamedTensor>& inputs, const OpCall& call) const {
    const std::vector<NamedTensor> results = run_onnx(path(), inputs);
    const std::vector<Tensor> expected = run(call);
    ASSERT_EQ(results.size(), outputs_of(op_));
    for (std::size_t i = 0; i < results.size(); ++i) {
      const Tensor &got = results[i].tensor, &wanted = expected[i];
      ASSERT_EQ(got.shape(), wanted.shape());
      ASSERT_EQ(got.dtype(), wanted.dtype());
      const double tolerance = tolerance_of(op_);
      if (tolerance == 0) {
        EXPECT_TRUE(same_bits(got, wanted))
            << "output " << i << ", difference " << difference(got, wanted);
      } else {
        EXPECT_LE(difference(got, wanted), tolerance);
      }
    }
  }

  static double difference(const Tensor& got, const Tensor& wanted) {
    if (got.dtype() != DType::f32) return same_bits(got, wanted) ? 0 : 1;
    double largest = 0;
    for (std::int64_t i = 0; i < got.elements(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      const double a = got.as<float>()[at], b = wanted.as<float>()[at];
      if (a == b || (std::isnan(a) && std::isnan(b))) continue;
      largest = std::max(largest, std::abs(a - b));
    }
    return largest;
  }

  graph::ValueId add(std::size_t i, bool is_input) {
    const Tensor& tensor = call_.inputs[i];
    const auto id = static_cast<graph::ValueId>(graph_.values.size());
    const std::string name = (is_input ? "x" : "w") + std::to_string(i);
    graph_.values.push_back(
        {.name = name,
         .type = {tensor.dtype(), tensor.shape()},
         .kind = is_input ? graph::ValueKind::input : graph::ValueKind::parameter});
    if (is_input) {
      graph_.inputs.push_back(id);
      inputs_.push_back({name, tensor});
    } else {
      graph_.variables.push_back({.value = id});
      weights_.emplace(name, tensor);
    }
    return id;
  }

  const graph::Op& op_;
  OpCall call_;
  graph::Graph graph_;
  std::vector<NamedTensor> inputs_;
  std::map<std::string, Tensor> weights_;
  std::int64_t batch_ = 0;
  TemporaryDirectory directory_;
};

class ExportedOps : public ::testing::TestWithParam<const graph::Op*> {};

TEST_P(ExportedOps, ComputeWhatTheyDoInTheModel) {
  const graph::Op& op = *GetParam();
  ASSERT_TRUE(op.samples) << "an op without samples cannot be tested";
  for (const graph::OpSample& sample : op.samples()) {
    const OpFile file(op, sample);
    if (is_refused(sample)) {
      EXPECT_NE(refusal(Errc::unsupported, [&] { file.write(file.batch()); }), "accepted");
      continue;
    }
    file.write(file.batch());
    if (unreadable(op, sample).empty())
      file.expect_same_results();
    else
      EXPECT_EQ(describe_onnx(file.path()).outputs.size(), outputs_of(op));
  }
}

TEST_P(ExportedOps, TakeAnyNumberOfSamples) {
  const graph::Op& op = *GetParam();
  for (const graph::OpSample& sample : op.samples()) {
    const OpFile file(op, sample);
    if (!file.takes_other_batches() || !unreadable(op, sample).empty() || is_refused(sample))
      continue;
    // A node that goes by the number of samples says so, such as a mean with a correction.
    try {
      file.write(0);
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("depends on the number of samples"),
                std::string::npos)
          << error.what();
      continue;
    }
    file.expect_same_results();
    if (file.batch() > 1) file.expect_same_results_of_fewer();
  }
}

std::vector<const graph::Op*> exported_ops() {
  std::vector<const graph::Op*> ops;
  for (const graph::Op* op : graph::all_ops())
    if (find_export(*op)) ops.push_back(op);
  return ops;
}

INSTANTIATE_TEST_SUITE_P(All, ExportedOps, ::testing::ValuesIn(exported_ops()),
                         [](const auto& op) { return std::string(op.param->name); });

/// Returns whether an op is none of a model in inference: it is one of training, or the compiler
/// brings it into plans.
bool is_no_op_of_models(const graph::Op& op) {
  static const std::set<std::string_view> others{"accumulate",  "channel_sum", "conv2d_inference",
                                                 "conv2d_pack", "from_lanes",  "reduce_to"};
  if (op.name == "stop_gradient") return false;
  const auto ends = [&](std::string_view end) { return op.name.ends_with(end); };
  return op.inference != nullptr || op.name.starts_with("finished_") || ends("_gradient") ||
         ends("_gradients") || ends("_lanes") || others.contains(op.name);
}

TEST(OpExports, CoverEveryOpOfModelsOrSayWhyNot) {
  for (const graph::Op* op : graph::all_ops()) {
    const bool is_refused =
        std::ranges::find(op_refusals(), op, &OpRefusal::op) != op_refusals().end();
    EXPECT_EQ(int{find_export(*op) != nullptr} + int{is_refused} + int{is_no_op_of_models(*op)}, 1)
        << op->name << " is neither written (engine/onnx/export) nor in op_refusals(), or both";
  }
}

}  // namespace
}  // namespace penstock::testing
