// These tests train a small language model with the trainer, from a text to a continuation.

#include <gtest/gtest.h>

#include <cmath>
#include <regex>
#include <string>

#include "tests/e2e/trainer/metrics_file.hpp"
#include "tests/e2e/trainer/trainer.hpp"
#include "tests/support/temporary_directory.hpp"

namespace penstock::testing {
namespace {

using nlohmann::json;

/// A TextFile is a file with a text in which a vowel follows each consonant.
struct TextFile {
  TextFile() {
    std::string text;
    for (int i = 0; i < 3000; ++i) {
      text += "bdfg"[i * 7 % 11 % 4];
      text += "aeiou"[i * 5 % 13 % 5];
      if (i % 17 == 16) text += "\n";
    }
    write_file(directory / "text", text);
  }
  Arguments small_gpt() const {
    return {"--model",
            "gpt",
            "--data-dir",
            (directory / "text").string(),
            "--layers",
            "2",
            "--heads",
            "2",
            "--width",
            "16",
            "--context",
            "8",
            "--no-progress",
            "--max-updates",
            "100",
            "--lr-warmup",
            "10",
            "--learning-rate",
            "0.01"};
  }

  TemporaryDirectory directory;
};

/// Returns the printed loss, and puts what is printed behind it into `rest`.
double printed_loss(const std::string& out, std::string& rest) {
  std::smatch match;
  if (!std::regex_search(out, match, std::regex("^Validation loss: ([0-9]+\\.[0-9]{4})\n")))
    return -1;
  rest = match.suffix();
  return std::stod(match[1]);
}

TEST(LanguageModel, LearnsATextAndGoesOnWithAPrompt) {
  const TextFile text;
  const Arguments run =
      text.small_gpt() + Arguments{"--metrics", (text.directory / "metrics").string(),
                                   "--sample",  "40",
                                   "--prompt",  "ba",
                                   "--top-k",   "6"};
  const CommandResult result = train(run);
  expect_success(result);
  std::string continued;
  const double loss = printed_loss(result.out, continued);
  EXPECT_GT(loss, 0) << result.out;
  EXPECT_LT(loss, 1.9) << "a guess among ten characters has 2.3";
  ASSERT_EQ(continued.size(), 2U + 40U + 1U) << continued;
  EXPECT_EQ(continued.substr(0, 2), "ba");
  EXPECT_EQ(continued.back(), '\n');

  const std::vector<json> lines = metrics_lines(text.directory / "metrics");
  EXPECT_FALSE(lines.front().contains("accuracy"));
  EXPECT_EQ(lines[lines.size() - 2].at("updates"), 100);
  const json& summary = lines.back().at("summary");
  EXPECT_NEAR(summary.at("validation_loss").get<double>(), loss, 0.00005001);
  EXPECT_NEAR(summary.at("tokens_per_second").get<double>(),
              8 * summary.at("train_samples_per_second").get<double>(), 1e-3);
  EXPECT_FALSE(summary.contains("test_accuracy"));
  EXPECT_EQ(train(run).out, result.out) << "the seed decides on everything";
  EXPECT_NE(train(run + Arguments{"--seed", "1"}).out, result.out);
}

TEST(LanguageModel, HasTheSameWeightsFromOneStageAndFromFour) {
  const TextFile text;
  const auto weights = [&](const Arguments& arguments) {
    const std::string file = (text.directory / "weights").string();
    expect_success(train(text.small_gpt() + arguments + Arguments{"--save-weights", file}));
    return file_content(file);
  };
  const std::string expected = weights({});
  EXPECT_TRUE(weights({"--stages", "embed|h.0|h.1|head"}) == expected);
  EXPECT_TRUE(weights({"--stages", "auto:2", "--recompute", "all"}) == expected);
}

TEST(LanguageModel, RefusesBeforeTheFirstStepWhatItCannotDo) {
  const TextFile text;
  const auto refused = [&](const Arguments& arguments) {
    const CommandResult result = train(text.small_gpt() + arguments);
    EXPECT_EQ(result.code, 2);
    return result.err;
  };
  EXPECT_NE(refused({"--sample", "3", "--prompt", "xyz"})
                .find("--prompt: vocabulary: character \"x\" at byte 0"),
            std::string::npos);
  const CommandResult none = train({"--model", "gpt", "--data-dir", "/nonexistent/text"});
  EXPECT_EQ(none.code, 2);
  EXPECT_NE(none.err.find("/nonexistent/text"), std::string::npos) << none.err;
  write_file(text.directory / "short", "abcabc");
  const CommandResult brief =
      train({"--model", "gpt", "--data-dir", (text.directory / "short").string()});
  EXPECT_EQ(brief.code, 2);
  EXPECT_NE(brief.err.find("expected a text whose last tenth has more than 64 tokens (--context), "
                           "got 6 tokens in all"),
            std::string::npos)
      << brief.err;
  write_file(text.directory / "binary", "abc\xff");
  const CommandResult binary =
      train({"--model", "gpt", "--data-dir", (text.directory / "binary").string()});
  EXPECT_EQ(binary.code, 2);
  EXPECT_NE(binary.err.find("--tokens bytes takes any file"), std::string::npos) << binary.err;
}

}  // namespace
}  // namespace penstock::testing
