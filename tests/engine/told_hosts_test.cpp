// D14: what a host's log finds when it is told something, and what becomes of the model if it
// throws.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "penstock/training_model.hpp"
#include "tests/support/random_tensor.hpp"
#include "tests/support/refusal.hpp"

namespace penstock::testing {
namespace {

constexpr std::int64_t full = 4, rest = 3;  // samples of a call

Model network() {
  Model model("network", 3);
  const Value x = model.flatten(model.batch_norm2d("norm", model.input("x", {4, 1, 1})));
  model.loss(model.cross_entropy(model.linear("fc", x, 3), model.labels()));
  return model;
}

std::vector<Tensor> samples(std::int64_t count, std::int64_t label = 1) {
  const std::vector<std::int64_t> labels(static_cast<std::size_t>(count), label);
  return {uniform({count, 4, 1, 1}, 1), Tensor({count}, labels)};
}

Options told_to(std::function<void(std::string_view)> log, LogLevel level = LogLevel::debug) {
  Options options{.batch_size = static_cast<int>(full)};
  options.runtime.threads = 2;
  options.runtime.log = std::move(log);
  options.runtime.log_level = level;
  return options;
}

bool same_bits(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && std::memcmp(a.raw(), b.raw(), a.bytes()) == 0;
}

TEST(ToldHosts, D14_HearOfAFailureOnceOnTheThreadThatCalls) {
  for (const std::int64_t count : {full, rest}) {
    const Model model = network();
    std::vector<std::string> lines;
    std::vector<std::thread::id> threads;
    Tensor seen;
    const auto log = [&](std::string_view line) {
      lines.emplace_back(line);
      threads.push_back(std::this_thread::get_id());
      seen = model.weight("fc.weight");
    };
    TrainingModel training(model, told_to(log, LogLevel::error));
    for (const std::int64_t fine : {full, rest}) training.step(samples(fine));
    const Tensor trained = model.weight("fc.weight");
    const auto text = refusal(Errc::stage_failed, [&] { training.step(samples(count, 9)); });
    for (const std::int64_t next : {full, rest})
      EXPECT_NE(refusal(Errc::closed, [&] { training.step(samples(next)); }), "accepted");
    EXPECT_EQ(lines, std::vector{text});
    EXPECT_EQ(threads, std::vector{std::this_thread::get_id()});
    EXPECT_TRUE(same_bits(seen, trained));
  }
}

}  // namespace
}  // namespace penstock::testing
