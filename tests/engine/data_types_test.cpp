// These tests check what a model asks of tensors of u8, i32 and bool, and what it refuses.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "penstock/custom_op.hpp"
#include "penstock/inference_model.hpp"
#include "tests/support/random_tensor.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/same_bits.hpp"

namespace penstock::testing {
namespace {

/// Returns a tensor of u8 or bool whose elements are `bytes`.
Tensor of_bytes(DType dtype, const Shape& shape, const std::vector<std::uint8_t>& bytes) {
  const auto kept = std::make_shared<std::vector<std::uint8_t>>(bytes);
  return Tensor::wrap(dtype, shape, {kept, reinterpret_cast<const std::byte*>(kept->data())});
}

const Options two_at_a_time{.batch_size = 2};

TEST(DataTypesAtTheDoor, AreNamedIfTheyAreOthers) {
  Model model("m");
  model.output("y", model.to_float(model.input("x", {3}, DType::u8)));
  InferenceModel serving(model, two_at_a_time);
  EXPECT_EQ(refusal(Errc::shape_mismatch,
                    [&] {
                      serving.run({uniform({2, 3}, 1)});
                    }),
            "model \"m\": input \"x\": expected u8[2,3] with any number of rows, got f32[2,3]");
  const Tensor i32 = labels({2, 3}, 1, 5, DType::i32);
  EXPECT_EQ(refusal(Errc::shape_mismatch, [&] { serving.run({i32}); }),
            "model \"m\": input \"x\": expected u8[2,3] with any number of rows, got i32[2,3]");
  EXPECT_EQ(refusal(Errc::shape_mismatch, [&] { static_cast<void>(i32.as<std::int64_t>()); }),
            "tensor [2,3]: expected i64 elements, got i32");
}

TEST(DataTypesAtTheDoor, RefuseABoolThatIsNeitherTrueNorFalse) {
  Model model("m");
  const Value x = model.input("x", {2}), mask = model.input("mask", {2}, DType::boolean);
  model.output("y", model.mul(x, model.to_float(mask)));
  InferenceModel serving(model, two_at_a_time);
  const Tensor numbers({2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(refusal(Errc::invalid_data,
                    [&] {
                      serving.run({numbers, of_bytes(DType::boolean, {2, 2}, {1, 0, 1, 2})});
                    }),
            "model \"m\": input \"mask\": byte 2 at sample 1 of the run: expected 0 or 1, of which "
            "a bool is made");
  EXPECT_TRUE(
      same_bits(serving.run({numbers, of_bytes(DType::boolean, {2, 2}, {1, 0, 1, 0})}).output("y"),
                Tensor({2, 2}, {1, 0, 3, 0})));
}

// The ids are checked behind the layer that widens them, too.
TEST(DataTypesAtTheDoor, RefuseIdsOfFewerBytesThatAreNoRows) {
  for (const DType dtype : {DType::u8, DType::i32}) {
    Model model("m", 3);
    const Value ids = model.input("ids", {3}, dtype);
    model.output("y", model.embedding("table", ids, 5, 4));
    model.output("z", model.embedding("other", model.flatten(model.to_i64(ids)), 5, 4));
    InferenceModel serving(model, two_at_a_time);
    const Tensor good = labels({2, 3}, 1, 5, dtype), bad = labels({2, 3}, 1, 200, dtype);
    EXPECT_TRUE(same_bits(serving.run({good}).output("y"), serving.run({good}).output("y")));
    EXPECT_NE(refusal(Errc::invalid_data, [&] { serving.run({bad}); }).find("expected 0 to 4"),
              std::string::npos);
  }
}

TEST(DataTypesAtTheDoor, AreWidenedWhereLayersTakeIndices) {
  Model model("m", 3);
  const Value x = model.input("x", {4, 6}), scores = model.input("scores", {5});
  const Value ids = model.input("ids", {4, 6}, DType::i32),
              classes = model.input("c", {}, DType::u8);
  const Value steps = model.input("steps", {}, DType::u8);
  for (const Value& value : {model.embedding("table", ids, 9, 2), model.gather(x, 1, ids),
                             model.scatter_add(x, 1, ids, x), model.one_hot(classes, 5),
                             model.cross_entropy(scores, classes), model.nll_loss(scores, classes),
                             model.multi_margin_loss(scores, classes),
                             model.lstm("lstm", x, {.hidden_size = 3, .lengths = steps}).output})
    EXPECT_TRUE(value);
  EXPECT_EQ(refusal(Errc::shape_mismatch,
                    [&] { model.one_hot(model.input("mask", {}, DType::boolean), 2); }),
            "one_hot \"one_hot_2\": expected ids of type i64, got bool[1]; to_i64() makes i64 of "
            "it");
}

TEST(DataTypesAtTheDoor, AreNotSummedUpIfTheirSumsHaveNoRoom) {
  Model model("m");
  const Value x = model.input("x", {3}, DType::u8);
  model.output("y", model.reshape(x, {3, 1}));
  Options options = two_at_a_time;
  options.output.mode = OutputMode::sum;
  EXPECT_EQ(refusal(Errc::invalid_argument, [&] { InferenceModel(model, options); }),
            "options.output.mode: expected outputs of type f32 or i64 to sum up, but \"y\" is "
            "u8[2,3,1]; to_float() or to_i64() in the model makes one that can be summed up");
  Model other("m");
  other.output("y", other.to_i64(other.input("x", {3}, DType::u8)));
  InferenceModel serving(other, options);
  EXPECT_EQ(serving.run({labels({2, 3}, 1, 9, DType::u8)}).output("y").dtype(), DType::i64);
}

TEST(DataTypesAtTheDoor, AreNoInputsOfAnOpOfTheHosts) {
  register_op({.name = "data types test",
               .shape = [](std::span<const Shape> inputs) { return inputs[0]; },
               .forward = [](std::span<const OpInput>, const OpOutput&) {}});
  Model model("m");
  const Value x = model.input("x", {3}, DType::u8);
  EXPECT_NE(refusal(Errc::shape_mismatch, [&] { model.custom("data types test", {x}); })
                .find("expected input 0 of type f32, got u8[1,3]; to_float() makes f32 of it"),
            std::string::npos);
}

}  // namespace
}  // namespace penstock::testing
