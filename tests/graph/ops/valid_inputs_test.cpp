#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "graph/ops/list.hpp"
#include "penstock/error.hpp"
#include "tests/graph/ops/sample_run.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/same_bits.hpp"

namespace penstock::graph {
namespace {

using testing::OpCall;

/// Contents are copies of a call's inputs. Op::make_valid may change what they contain.
class Contents {
 public:
  explicit Contents(const OpCall& call) : types_(testing::input_types(call)) {
    for (std::size_t i = 0; i < types_.size(); ++i) {
      const auto words = static_cast<std::size_t>(types_[i].bytes() / 8 + 1);
      memory_.push_back(std::make_unique<std::int64_t[]>(words));
      operands_.push_back({&types_[i], memory_[i].get()});
      if (types_[i].dtype == DType::i64)
        std::ranges::copy(call.inputs[i].as<std::int64_t>(), operands_[i].i64().begin());
      else
        std::ranges::copy(call.inputs[i].as<float>(), operands_[i].f32().begin());
    }
  }

  std::span<const Operand> operands() const { return operands_; }

  /// Fills the copies with numbers that no op may take for a label, an id, a length or a
  /// probability.
  void spoil() {
    for (const Operand& operand : operands_)
      if (operand.type->dtype == DType::i64)
        std::ranges::fill(operand.i64(), std::int64_t{-7});
      else
        std::ranges::fill(operand.f32(), -7.5f);
  }

  std::vector<Tensor> tensors() const {
    std::vector<Tensor> result;
    for (const Operand& operand : operands_)
      if (operand.type->dtype == DType::i64)
        result.emplace_back(operand.shape(), std::span<const std::int64_t>(operand.i64()));
      else
        result.emplace_back(operand.shape(), std::span<const float>(operand.f32()));
    return result;
  }

 private:
  std::vector<TensorType> types_;
  std::vector<std::unique_ptr<std::int64_t[]>> memory_;
  std::vector<Operand> operands_;
};

/// Returns every call of the samples of losses and of ops that have ranges of indices, forward and
/// backward, with all inputs spoiled. These are the ops whose inputs a user may get wrong; other
/// ops get inputs of this kind, such as winners and masks, from their forward ops.
std::vector<OpCall> spoiled_calls() {
  std::vector<OpCall> calls;
  for (const Op* op : ops_with_samples()) {
    if (!op->is_loss && !op->index_ranges) continue;
    for (const OpSample& sample : op->samples()) {
      const SampleRun run = run_sample(*op, sample);
      for (OpCall call : run.tape.calls()) {
        Contents contents(call);
        contents.spoil();
        call.inputs = contents.tensors();
        calls.push_back(std::move(call));
      }
    }
  }
  return calls;
}

std::string refusal_of(const OpCall& call) {
  return testing::refusal(Errc::invalid_data, [&] { run(call); });
}

OpCall made_valid(OpCall call) {
  const Contents contents(call);
  if (call.op->make_valid) call.op->make_valid(call.attributes, contents.operands());
  call.inputs = contents.tensors();
  return call;
}

TEST(ValidInputs, AreTakenByEveryOpThatRefusesSomeContents) {
  std::set<std::string_view> refused;
  for (const OpCall& call : spoiled_calls()) {
    if (refusal_of(call) != "accepted") refused.insert(call.op->name);
    EXPECT_EQ(refusal_of(made_valid(call)), "accepted") << call.op->name;
  }
  EXPECT_EQ(refused, (std::set<std::string_view>{"binary_cross_entropy",
                                                 "cached_attention",
                                                 "cross_entropy",
                                                 "cross_entropy_gradient",
                                                 "ctc_loss",
                                                 "ctc_loss_gradient",
                                                 "embedding",
                                                 "embedding_gradient",
                                                 "gather",
                                                 "gaussian_nll_loss",
                                                 "gru",
                                                 "gru_gradient",
                                                 "lstm",
                                                 "lstm_gradient",
                                                 "multi_margin_loss",
                                                 "multi_margin_loss_gradient",
                                                 "multilabel_margin_loss",
                                                 "multilabel_margin_loss_gradient",
                                                 "nll_loss",
                                                 "nll_loss_gradient",
                                                 "one_hot",
                                                 "rnn",
                                                 "rnn_gradient",
                                                 "scatter_add"}));
}

/// Returns `call` with element 0 of i64 input number `input` set to `element`.
OpCall with_first_element(OpCall call, std::size_t input, std::int64_t element) {
  const Contents contents(call);
  contents.operands()[input].i64()[0] = element;
  call.inputs = contents.tensors();
  return call;
}

TEST(ValidInputs, AreThoseInTheRangesOfIndices) {
  std::set<std::string_view> checked;
  for (const OpCall& spoiled : spoiled_calls()) {
    if (!spoiled.op->index_ranges) continue;
    checked.insert(spoiled.op->name);
    const OpCall call = made_valid(spoiled);
    for (const IndexRange& range :
         spoiled.op->index_ranges(call.attributes, testing::input_types(call))) {
      SCOPED_TRACE(call.op->name);
      const auto refusal_with = [&](std::int64_t element) {
        return refusal_of(with_first_element(call, range.input, element));
      };
      EXPECT_EQ(refusal_with(0), "accepted");
      EXPECT_EQ(refusal_with(range.end - 1), "accepted");
      EXPECT_EQ(refusal_with(range.other.value_or(0)), "accepted");
      const std::int64_t below = range.other == -1 ? -2 : -1;
      for (const std::int64_t outside : {below, range.end}) {
        const std::string element = std::string(range.element) + " " + std::to_string(outside);
        EXPECT_EQ(refusal_with(outside).find(element + " at "), 0U) << refusal_with(outside);
      }
    }
  }
  EXPECT_EQ(checked, (std::set<std::string_view>{"cached_attention", "cross_entropy", "ctc_loss",
                                                 "embedding", "gather", "gru", "lstm",
                                                 "multi_margin_loss", "multilabel_margin_loss",
                                                 "nll_loss", "one_hot", "rnn", "scatter_add"}));
}

OpCall call_of(const std::string& op, const std::vector<TensorType>& types,
               const Attributes& attributes = {}) {
  OpCall call{.op = &find_op(op), .attributes = attributes};
  for (const TensorType& type : types) call.inputs.push_back(Tensor::zeros(type.dtype, type.shape));
  return made_valid(call);
}

std::vector<std::int64_t> integers(const Tensor& tensor) {
  return {tensor.as<std::int64_t>().begin(), tensor.as<std::int64_t>().end()};
}

TEST(ValidInputs, OfSequencesHaveAllStepsAndAsManyLabelsAsTheseSpell) {
  struct Row {
    std::int64_t steps, classes, width, blank, labels;
  };
  for (const Row& row : {Row{6, 7, 5, 6, 5}, Row{6, 7, 5, 0, 5}, Row{3, 4, 5, 2, 3},
                         Row{5, 2, 5, 1, 3}, Row{5, 2, 2, 0, 2}, Row{4, 1, 3, 0, 0}}) {
    const OpCall call = call_of("ctc_loss",
                                {{DType::f32, {2, row.steps, row.classes}},
                                 {DType::i64, {2, row.width}},
                                 {DType::i64, {2}},
                                 {DType::i64, {2}}},
                                {{"blank", row.blank}, {"reduction", "none"}});
    EXPECT_EQ(integers(call.inputs[2]), (std::vector<std::int64_t>{row.steps, row.steps}));
    EXPECT_EQ(integers(call.inputs[3]), (std::vector<std::int64_t>{row.labels, row.labels}));
    const Tensor loss = run(call)[0];
    for (const float term : loss.as<float>())
      EXPECT_TRUE(std::isfinite(term)) << row.steps << " steps, " << row.classes << " classes";
  }
}

TEST(ValidInputs, OfLabelsAreEveryClassButTheOneThatIsIgnored) {
  const std::vector<TensorType> types{{DType::f32, {5, 3}}, {DType::i64, {5}}};
  const auto labels = [&](std::int64_t ignored) {
    return integers(call_of("cross_entropy", types, {{"ignore_index", ignored}}).inputs[1]);
  };
  EXPECT_EQ(labels(-100), (std::vector<std::int64_t>{0, 1, 2, 0, 1}));
  EXPECT_EQ(labels(0), (std::vector<std::int64_t>{1, 2, 1, 2, 1}));
  EXPECT_EQ(labels(2), (std::vector<std::int64_t>{0, 1, 0, 1, 0}));
}

TEST(ValidInputs, LeaveTheDataOfOpsAloneThatTakeAnything) {
  OpCall call{.op = &find_op("mse_loss"),
              .inputs = {Tensor({2}, {-5.0f, 7.0f}), Tensor({2}, {1e30f, -0.0f})}};
  const OpCall same = made_valid(call);
  for (std::size_t i = 0; i < 2; ++i)
    EXPECT_TRUE(testing::same_bits(same.inputs[i], call.inputs[i])) << "input " << i;
}

}  // namespace
}  // namespace penstock::graph
