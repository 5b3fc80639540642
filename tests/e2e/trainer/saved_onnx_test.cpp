// These tests run the trainer and read the ONNX files that it writes.

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "penstock/onnx.hpp"
#include "penstock/safetensors.hpp"
#include "tests/e2e/trainer/metrics_file.hpp"
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

// Networks differ in how their pixels are normalized. If a file did not say it, the network would
// see other images.
TEST(TrainerSavesOnnx, SoThatItTrainsOnTheSamePixelsAgain) {
  const TemporaryDirectory directory;
  const std::string weights = (directory / "weights").string();
  const std::string network = (directory / "network.onnx").string();
  const auto first_loss = [&](const Arguments& which) {
    const std::string metrics = (directory / "metrics").string();
    expect_success(train(quick_for("1") + which + Arguments{"--metrics", metrics}));
    return metrics_lines(metrics).at(0).at("loss").get<double>();
  };
  for (const std::string model : {"mlp", "mnist-cnn"}) {
    expect_success(train(quick_for("3") + Arguments{"--model", model, "--save-weights", weights,
                                                    "--save-onnx", network}));
    EXPECT_NEAR(first_loss({"--onnx", network}),
                first_loss({"--model", model, "--init-weights", weights}), 1e-5)
        << model;
  }
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
