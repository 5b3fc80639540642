#include "apps/trainer/run_setup.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <variant>

#include "apps/networks/gpt.hpp"
#include "apps/networks/networks.hpp"
#include "tests/support/refusal.hpp"

namespace trainer {
namespace {

Task language_task() {
  return {.model = penstock::networks::gpt({.layers = 1, .heads = 1, .width = 4, .context = 2}, 0),
          .train = nullptr,
          .test = nullptr,
          .sample_name = "window",
          .vocabulary = penstock::Vocabulary::bytes()};
}

TEST(RunSetup, LetsOnlyMatricesOfALanguageModelDecay) {
  const TrainerOptions options = defaults_of(language_model);
  const penstock::Optimizer optimizer = scheduled_optimizer(options, language_task(), 2000);
  EXPECT_EQ(std::get<penstock::AdamW>(optimizer.settings).weight_decay, 0.1);
  ASSERT_EQ(optimizer.groups.size(), 1U);
  const auto& group = optimizer.groups[0];
  EXPECT_EQ(std::get<penstock::AdamW>(group.settings).weight_decay, 0);
  EXPECT_EQ(std::get<penstock::AdamW>(group.settings).beta2, 0.99);
  EXPECT_EQ(std::set<std::string>(group.parameters.begin(), group.parameters.end()),
            (std::set<std::string>{"h.0.ln_1.weight", "h.0.ln_2.weight", "ln_f.weight"}));
  EXPECT_DOUBLE_EQ(optimizer.schedule.at(2000), 0.1);
}

TEST(RunSetup, RefusesToSaveAnOnnxFileOfTwoGigabytes) {
  const penstock::ParameterInfo quarter{.name = "w", .shape = {1 << 14, 1 << 13}};  // 2^29 bytes
  EXPECT_NO_THROW(check_onnx_size({quarter, quarter, quarter}));
  EXPECT_EQ(penstock::testing::refusal(penstock::Errc::unsupported,
                                       [&] {
                                         check_onnx_size({quarter, quarter, quarter, quarter});
                                       }),
            "expected a model whose weights fit into one ONNX file, which has less than 2 GB, got "
            "weights of 2147483648 bytes; --save-weights saves weights of any size");
  // The nodes of the model need room in the file, too.
  const penstock::ParameterInfo rest{.name = "w", .shape = {(1 << 27) - (1 << 20)}};
  EXPECT_NE(penstock::testing::refusal(penstock::Errc::unsupported,
                                       [&] {
                                         check_onnx_size({quarter, quarter, quarter, rest});
                                       }),
            "accepted");
}

TEST(RunSetup, LetsAllWeightsOfOtherNetworksDecay) {
  Task task = language_task();
  task.vocabulary.reset();
  EXPECT_TRUE(scheduled_optimizer({}, task, 100).groups.empty());
}

}  // namespace
}  // namespace trainer
