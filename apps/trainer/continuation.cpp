#include "apps/trainer/continuation.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <random>
#include <span>
#include <vector>

#include "penstock/error.hpp"
#include "penstock/fit.hpp"

namespace trainer {
namespace {

using Tokens = std::vector<std::int64_t>;

bool has_token(const penstock::Vocabulary& vocabulary, const std::string& text) {
  for (std::int64_t number = 0; number < vocabulary.size(); ++number)
    if (vocabulary.token(number) == text) return true;
  return false;
}

Tokens tokens_of_prompt(const penstock::Vocabulary& vocabulary,
                        const ContinuationOptions& options) try {
  const penstock::Tensor tokens = vocabulary.encode(
      options.prompt.value_or(has_token(vocabulary, "\n") ? "\n" : vocabulary.token(0)));
  const auto numbers = tokens.as<std::int64_t>();
  return {numbers.begin(), numbers.end()};
} catch (const penstock::Error& error) {
  throw penstock::Error(error.code(), std::string("--prompt: ") + error.what());
}

/// Returns the logits of the token that follows the last ones of `tokens`.
std::vector<float> next_logits(penstock::InferenceModel& model, const Task& task,
                               const Tokens& tokens) {
  const auto context = static_cast<std::size_t>(task.tokens_per_sample);
  const std::size_t known = std::min(context, tokens.size());
  // What stands behind the known tokens is hidden from them.
  Tokens window(context, 0);
  std::copy(tokens.end() - static_cast<std::ptrdiff_t>(known), tokens.end(), window.begin());
  const penstock::Tensor input({1, task.tokens_per_sample}, std::span<const std::int64_t>(window));
  const std::vector<penstock::NamedTensor> outputs = penstock::predict(model, {input});
  const auto classes = static_cast<std::size_t>(task.vocabulary->size());
  for (const penstock::NamedTensor& output : outputs)
    if (output.name == "logits") {
      const auto last = output.tensor.as<float>().subspan((known - 1) * classes, classes);
      return {last.begin(), last.end()};
    }
  throw penstock::Error(penstock::Errc::internal, "the model has no output \"logits\"");
}

/// Returns the logit below which no token is drawn: the smallest of the `count` largest ones.
float least_logit(std::vector<float> logits, std::size_t count) {
  if (count >= logits.size()) return *std::ranges::min_element(logits);
  const auto nth = logits.begin() + static_cast<std::ptrdiff_t>(count) - 1;
  std::nth_element(logits.begin(), nth, logits.end(), std::greater<>());
  return *nth;
}

/// Returns a token that is drawn with the chances that the softmax of the logits, divided by the
/// temperature, gives to the `options.top_k` tokens of the largest logits, or to all tokens if
/// `options.top_k` is not set. `draw` is the random number, from 0 to less than 1. If the
/// temperature is 0, returns the token of the largest logit.
/// @throws penstock::Error invalid_data if a logit is not finite.
std::int64_t drawn_token(const std::vector<float>& logits, const ContinuationOptions& options,
                         double draw) {
  if (!std::ranges::all_of(logits, [](float logit) { return std::isfinite(logit); }))
    throw penstock::Error(penstock::Errc::invalid_data,
                          "--sample: expected finite logits, got infinity or nan: the training has "
                          "diverged");
  const auto largest = std::ranges::max_element(logits);
  if (options.temperature == 0) return largest - logits.begin();
  const float least = least_logit(
      logits, static_cast<std::size_t>(options.top_k.value_or(static_cast<int>(logits.size()))));
  std::vector<double> weights;
  for (const float logit : logits)
    weights.push_back(
        logit < least ? 0 : std::exp((double{logit} - double{*largest}) / options.temperature));
  double left = draw * std::accumulate(weights.begin(), weights.end(), 0.0);
  for (std::size_t i = 0; i < weights.size(); ++i)
    if ((left -= weights[i]) < 0) return static_cast<std::int64_t>(i);
  return largest - logits.begin();  // Rounding has left a rest.
}

}  // namespace

void check_prompt(const Task& task, const ContinuationOptions& options) {
  if (options.sample) tokens_of_prompt(*task.vocabulary, options);
}

std::string continue_text(penstock::InferenceModel& model, const Task& task,
                          const ContinuationOptions& options, std::uint64_t seed) {
  const penstock::Vocabulary& vocabulary = *task.vocabulary;
  Tokens tokens = tokens_of_prompt(vocabulary, options);
  std::mt19937_64 random(seed);
  for (std::int64_t i = 0; i < options.sample.value_or(0); ++i) {
    const double draw = static_cast<double>(random() >> 11) * 0x1p-53;
    tokens.push_back(drawn_token(next_logits(model, task, tokens), options, draw));
  }
  return vocabulary.decode(tokens);
}

}  // namespace trainer
