#include "apps/trainer/continuation.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <set>
#include <string>

#include "apps/networks/gpt.hpp"
#include "penstock/inference_model.hpp"
#include "tests/support/refusal.hpp"

namespace trainer {
namespace {

constexpr std::int64_t context = 5;

/// Returns a task with an untrained network, whose next token hardly depends on the ones before.
Task untrained(const std::string& characters) {
  const penstock::Vocabulary vocabulary = penstock::Vocabulary::characters(characters);
  return {.model = penstock::networks::gpt({.layers = 1,
                                            .heads = 1,
                                            .width = 8,
                                            .context = context,
                                            .vocabulary = vocabulary.size()},
                                           3),
          .train = nullptr,
          .test = nullptr,
          .sample_name = "window",
          .tokens_per_sample = context,
          .vocabulary = vocabulary};
}

TEST(Continuation, GoesOnWithThePromptForSoManyTokens) {
  const Task task = untrained("abcdefgh\n");
  penstock::InferenceModel model(task.model, {.batch_size = 2});
  const std::string text = continue_text(model, task, {.sample = 30, .prompt = "abc"}, 1);
  EXPECT_EQ(text.size(), 33U);
  EXPECT_EQ(text.substr(0, 3), "abc");
  EXPECT_EQ(continue_text(model, task, {.sample = 30, .prompt = "abc"}, 1), text);
  EXPECT_NE(continue_text(model, task, {.sample = 30, .prompt = "abc"}, 2), text);
  EXPECT_EQ(continue_text(model, task, {.sample = 3}, 1)[0], '\n');
  EXPECT_GT(std::set<char>(text.begin(), text.end()).size(), 5U)
      << "all tokens are about as likely";
}

TEST(Continuation, TakesTheLikeliestTokensOnlyIfAskedTo) {
  const Task task = untrained("abcdefgh\n");
  penstock::InferenceModel model(task.model, {.batch_size = 1});
  const ContinuationOptions cold{.sample = 30, .prompt = "a", .temperature = 0};
  const std::string likeliest = continue_text(model, task, cold, 1);
  EXPECT_EQ(continue_text(model, task, cold, 2), likeliest) << "nothing is drawn";
  ContinuationOptions one = cold;
  one.temperature = 5;
  one.top_k = 1;
  EXPECT_EQ(continue_text(model, task, one, 3), likeliest);
  one.top_k = 2;
  EXPECT_NE(continue_text(model, task, one, 3), likeliest);
}

// Only the last tokens of a text are in the context.
TEST(Continuation, DependsOnTheTokensInTheContext) {
  const Task task = untrained("ab\n");
  penstock::InferenceModel model(task.model, {.batch_size = 1});
  const auto next = [&](const std::string& prompt) {
    return continue_text(model, task, {.sample = 8, .prompt = prompt}, 1).substr(prompt.size());
  };
  EXPECT_EQ(next("aaaaaaaabbabb"), next("bbbbbbbbbbabb"));
}

TEST(Continuation, BeginsWithATokenThatTheVocabularyHas) {
  const Task task = untrained("xyz");
  penstock::InferenceModel model(task.model, {.batch_size = 1});
  EXPECT_NO_THROW(check_prompt(task, {.sample = 1}));
  EXPECT_EQ(continue_text(model, task, {.sample = 1}, 1)[0], 'x');
  EXPECT_EQ(penstock::testing::refusal(penstock::Errc::invalid_data,
                                       [&] { check_prompt(task, {.sample = 1, .prompt = "xq"}); }),
            "--prompt: vocabulary: character \"q\" at byte 1 is not one of the 3 that there are");
}

TEST(Continuation, RefusesWhatATrainingThatDivergedHasLeft) {
  Task task = untrained("ab");
  task.model.initialize("wpe.weight", penstock::Initializer::constant(3e38));
  penstock::InferenceModel model(task.model, {.batch_size = 1});
  EXPECT_EQ(
      penstock::testing::refusal(penstock::Errc::invalid_data,
                                 [&] { continue_text(model, task, {.sample = 1, .top_k = 1}, 1); }),
      "--sample: expected finite logits, got infinity or nan: the training has diverged");
}

}  // namespace
}  // namespace trainer
