// These tests run the trainer and read the ONNX files that it writes.

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "penstock/onnx.hpp"
#include "penstock/safetensors.hpp"
#include "tests/e2e/trainer/trainer.hpp"
#include "tests/support/same_bits.hpp"
#include "tests/support/temporary_directory.hpp"

namespace penstock::testing {
namespace {

TEST(TrainerSavesOnnx, WithTheWeightsThatItHasTrained) {
  const TemporaryDirectory directory;
  const std::string weights = (directory / "weights").string();
  const std::string network = (directory / "network.onnx").string();
  expect_success(train(quick_mlp + Arguments{"--save-weights", weights, "--save-onnx", network}));
  const TensorFile trained = load_safetensors(weights);
  const std::vector<NamedTensor> saved = load_onnx_weights(network);
  ASSERT_EQ(saved.size(), trained.tensors.size());
  for (const NamedTensor& weight : saved)
    EXPECT_TRUE(same_bits(weight.tensor, trained.tensor(weight.name))) << weight.name;
}

TEST(TrainerSavesOnnx, OverNothingThatAnotherOptionWritesOrReads) {
  const TemporaryDirectory directory;
  const std::string file = (directory / "file").string();
  const CommandResult twice =
      train(quick_mlp + Arguments{"--save-weights", file, "--save-onnx", file});
  EXPECT_NE(twice.code, 0);
  EXPECT_NE(twice.err.find("is the same file as"), std::string::npos) << twice.err;
  EXPECT_TRUE(directory.entries().empty());
}

TEST(TrainerSavesOnnx, OnlyWhereTheDirectoryIsThere) {
  const TemporaryDirectory directory;
  const CommandResult result =
      train(quick_mlp + Arguments{"--save-onnx", (directory / "none/network.onnx").string()});
  EXPECT_NE(result.code, 0);
  EXPECT_NE(result.err.find("none/network.onnx"), std::string::npos) << result.err;
}

}  // namespace
}  // namespace penstock::testing
