// These tests write texts token by token, with the keys and values of earlier tokens on the IPUs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "apps/networks/gpt.hpp"
#include "penstock/inference_model.hpp"
#include "penstock/training_model.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/same_bits.hpp"

namespace penstock::networks {
namespace {

using testing::refusal;
using testing::same_bits;

constexpr GptOptions sizes{.layers = 2, .heads = 2, .width = 16, .context = 9, .vocabulary = 7};

const std::vector<std::int64_t> text{3, 1, 4, 1, 5, 2, 6, 5, 0};

/// Returns a decoder with the parameters of `model`.
Model decoder_of(const Model& model) {
  Model decoder = gpt_decoder(sizes);
  copy_parameters(model, decoder);
  return decoder;
}

/// Returns the logits behind each token of `text`, which is written token by token.
std::vector<Tensor> logits_by_token(InferenceModel& decoder) {
  std::vector<Tensor> logits;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::vector<std::int64_t> token{text[i]}, position{static_cast<std::int64_t>(i)};
    logits.push_back(
        decoder.run({{"token", Tensor({1, 1}, token)}, {"position", Tensor({1}, position)}})
            .output("logits"));
  }
  return logits;
}

TEST(Decoding, ComputesTheLogitsOfTheWholeWindow) {
  const Model model = gpt(sizes, 1);
  InferenceModel whole(model, {.batch_size = 1});
  const Tensor tokens({1, sizes.context}, text);
  const Tensor expected = whole.run({{"tokens", tokens}, {"next", tokens}}).output("logits");
  InferenceModel decoder(decoder_of(model), {.batch_size = 1});
  const std::vector<Tensor> logits = logits_by_token(decoder);
  for (std::size_t i = 0; i < text.size(); ++i)
    for (std::size_t k = 0; k < 7; ++k)
      EXPECT_NEAR(logits[i].as<float>()[k], expected.as<float>()[i * 7 + k], 1e-5)
          << "token " << i << ", class " << k;
}

TEST(Decoding, HasTheSameBitsFromEveryNumberOfStagesAndInEveryText) {
  const Model model = gpt(sizes, 1);
  InferenceModel one(decoder_of(model), {.batch_size = 1});
  const std::vector<Tensor> expected = logits_by_token(one);
  Options options{.batch_size = 1};
  options.topology.stages = parse_stages("embed,h.0|h.1|head");
  InferenceModel three(decoder_of(model), options);
  for (InferenceModel* decoder : {&one, &three}) {
    const std::vector<Tensor> logits = logits_by_token(*decoder);
    for (std::size_t i = 0; i < text.size(); ++i)
      EXPECT_TRUE(same_bits(logits[i], expected[i])) << "token " << i;
  }
}

TEST(Decoding, BeginsANewTextWithNewWeights) {
  const Model model = gpt(sizes, 1);
  Model decoder = decoder_of(model);
  InferenceModel inference(decoder, {.batch_size = 1});
  const std::vector<Tensor> before = logits_by_token(inference);
  copy_parameters(gpt(sizes, 2), decoder);
  EXPECT_FALSE(same_bits(logits_by_token(inference).back(), before.back()));
  copy_parameters(model, decoder);
  EXPECT_TRUE(same_bits(logits_by_token(inference).back(), before.back()));
}

TEST(Decoding, RefusesAPositionBehindTheEnd) {
  InferenceModel decoder(gpt_decoder(sizes), {.batch_size = 1});
  const std::vector<std::int64_t> token{0}, position{9};
  const std::string refused = refusal(Errc::invalid_data, [&] {
    decoder.run({{"token", Tensor({1, 1}, token)}, {"position", Tensor({1}, position)}});
  });
  EXPECT_NE(refused.find("position"), std::string::npos) << refused;
}

/// Returns the logits behind token 1 at `position`.
Tensor logits_at(InferenceModel& decoder, std::int64_t position) {
  const std::vector<std::int64_t> token{1}, at{position};
  return decoder.run({{"token", Tensor({1, 1}, token)}, {"position", Tensor({1}, at)}})
      .output("logits");
}

TEST(Decoding, RefusesAPositionBehindTheNextRow) {
  InferenceModel decoder(gpt_decoder(sizes), {.batch_size = 1});
  logits_at(decoder, 0);
  logits_at(decoder, 1);
  const Tensor before = logits_at(decoder, 1);
  EXPECT_TRUE(same_bits(logits_at(decoder, 1), before));
  const std::string refused = refusal(Errc::stage_failed, [&] { logits_at(decoder, 3); });
  EXPECT_NE(refused.find("position 3 at sample 0: expected 0 to 2"), std::string::npos) << refused;
  EXPECT_NE(refusal(Errc::stage_failed, [&] { logits_at(decoder, 2); }), "accepted")
      << "what was kept is lost with the call that has failed";
  logits_at(decoder, 0);
  EXPECT_TRUE(same_bits(logits_at(decoder, 1), before));
}

TEST(Decoding, BeginsAgainAfterItWasDetached) {
  InferenceModel decoder(gpt_decoder(sizes), {.batch_size = 1});
  const Tensor first = logits_at(decoder, 0);
  decoder.detach();
  EXPECT_TRUE(same_bits(logits_at(decoder, 0), first));
  decoder.detach();
  EXPECT_NE(refusal(Errc::stage_failed, [&] { logits_at(decoder, 1); }), "accepted");
}

TEST(Decoding, TakesOneSampleACall) {
  const std::string text =
      refusal(Errc::unsupported, [] { InferenceModel(gpt_decoder(sizes), {.batch_size = 2}); });
  EXPECT_NE(text.find("h.0.attn"), std::string::npos) << text;
  EXPECT_NE(text.find("so expects one sample a call, got batch_size 2"), std::string::npos) << text;
}

TEST(Decoding, IsNotTrained) {
  Model model = gpt_decoder(sizes);
  const Value rows = model.input("rows", {1, 4}), position = model.input("at", {}, DType::i64);
  model.loss(
      model.identity_loss(model.cached_attention("a", rows, rows, rows, position, {.length = 4})));
  const std::string text =
      refusal(Errc::unsupported, [&] { TrainingModel(model, {.batch_size = 1}); });
  EXPECT_NE(text.find("is for inference only"), std::string::npos) << text;
}

/// Returns what four heads of queries that share two of keys and values make of rotated rows. With
/// a `position`, the rows begin there, and those before them are in the cache.
Value attended(Model& model, Value x, Value position) {
  const auto rotated = [&](Value rows, int heads) {
    return model.rotary_embedding(rows, {.heads = heads, .position = position});
  };
  const Value q = rotated(x, 4), k = rotated(model.slice(x, 2, 0, 8), 2);
  const Value v = model.slice(x, 2, 8, 16);
  if (!position) return model.attention(q, k, v, {.heads = 4, .causal = true, .kv_heads = 2});
  return model.cached_attention("cache", q, k, v, position,
                                {.heads = 4, .length = 6, .kv_heads = 2});
}

TEST(Decoding, OfRotatedRowsWithSharedHeadsIsAsAttendingToAllRows) {
  Model whole, grown;
  whole.output("y", attended(whole, whole.input("x", {6, 16}), {}));
  const Value row = grown.input("x", {1, 16}), position = grown.input("at", {}, DType::i64);
  grown.output("y", attended(grown, row, position));
  InferenceModel at_once(whole, {.batch_size = 1}), decoder(grown, {.batch_size = 1});
  std::vector<float> numbers(6 * 16);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = std::sin(static_cast<float>(i * i));
  const Tensor x({1, 6, 16}, std::span<const float>(numbers));
  const StepResult expected = at_once.run({x});
  for (std::size_t at = 0; at < 6; ++at) {
    const auto elements = x.as<float>().subspan(16 * at, 16);
    const std::vector<std::int64_t> positions{static_cast<std::int64_t>(at)};
    const StepResult result = decoder.run({Tensor({1, 1, 16}, elements), Tensor({1}, positions)});
    for (std::size_t i = 0; i < 16; ++i)
      EXPECT_NEAR(result.output("y").as<float>()[i], expected.output("y").as<float>()[16 * at + i],
                  1e-6)
          << "row " << at;
  }
}

TEST(Decoding, RefusesRowsThatDoNotFit) {
  Model model;
  const Value rows = model.input("rows", {3, 4}), position = model.input("at", {}, DType::i64);
  const Value flat = model.input("flat", {4});
  const auto attend = [&](const Value& x, const CachedAttentionOptions& options) {
    model.cached_attention("a", x, x, x, position, options);
  };
  EXPECT_EQ(refusal(Errc::shape_mismatch, [&] { attend(rows, {.length = 2}); }),
            "cached_attention \"a\": expected a cache of at least 3 rows, got 2");
  EXPECT_EQ(refusal(Errc::shape_mismatch, [&] { attend(rows, {}); }),
            "cached_attention \"a\": expected length of 1 or more, got 0");
  EXPECT_EQ(
      refusal(Errc::shape_mismatch, [&] { attend(flat, {.length = 2}); }),
      "cached_attention \"a\": expected q of rank 3, got [1,4]; reshape() gives it another rank");
  EXPECT_EQ(refusal(Errc::shape_mismatch, [&] { attend(rows, {.heads = 3, .length = 4}); }),
            "cached_attention \"a\": expected features that divide into 3 heads, got [1,3,4] and "
            "[1,3,4]");
  EXPECT_TRUE(model.parameters().empty());
}

}  // namespace
}  // namespace penstock::networks
