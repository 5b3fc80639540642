// These tests compare the memory that the compiler plans for attentions over sequences of different
// lengths.
#include <gtest/gtest.h>

#include <string>

#include "penstock/model.hpp"
#include "penstock/training_model.hpp"

namespace penstock {
namespace {

/// Returns how many bytes the compiler plans for training a network of one attention.
std::int64_t planned_bytes(std::int64_t length, AttentionOptions options, bool padded = false) {
  Model model;
  const Value x = model.input("x", {length, 16});
  if (padded) options.key_padding_mask = model.input("padding", {length}, DType::i64);
  const Value qkv = model.linear("qkv", x, 16 + 16 * options.kv_heads);
  model.loss(model.mse_loss(model.attention(qkv, options), x));
  const TrainingModel training(model, {.batch_size = 2});
  std::int64_t bytes = 0;
  for (const StagePlanReport& stage : training.compile_report().stages) bytes += stage.bytes;
  return bytes;
}

TEST(AttentionMemory, GrowsWithTheLengthOfTheSequence) {
  const AttentionOptions options{.heads = 2, .causal = true, .kv_heads = 2};
  const double once = static_cast<double>(planned_bytes(1024, options));
  const double twice = static_cast<double>(planned_bytes(2048, options));
  EXPECT_LT(twice, 2.05 * once);
  // The scores alone, of two samples and two heads, would take as much as this.
  EXPECT_LT(twice, 4.0 * 2048 * 2048 * 4);
}

TEST(AttentionMemory, GrowsWithTheLengthWithHiddenKeysSharedHeadsAndADropout) {
  const AttentionOptions options{.heads = 2, .dropout = 0.1, .name = "drop", .kv_heads = 1};
  const double once = static_cast<double>(planned_bytes(1024, options, true));
  const double twice = static_cast<double>(planned_bytes(2048, options, true));
  EXPECT_LT(twice, 2.05 * once);
}

}  // namespace
}  // namespace penstock
