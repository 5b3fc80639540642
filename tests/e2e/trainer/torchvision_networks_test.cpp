// These tests run the trainer with torchvision's networks on images of various sizes.

#include <gtest/gtest.h>

#include <span>

#include "penstock/safetensors.hpp"
#include "tests/e2e/trainer/trainer.hpp"
#include "tests/support/idx_bytes.hpp"
#include "tests/support/temporary_directory.hpp"

namespace penstock::testing {
namespace {

Arguments mobilenet_on_images_in(const TemporaryDirectory& directory) {
  return {"--dataset",
          "mnist",
          "--data-dir",
          directory.path().string(),
          "--model",
          "mobilenet-v2",
          "--batch-size",
          "2",
          "--gradient-accumulation",
          "2",
          "--device-iterations",
          "1",
          "--epochs",
          "1"};
}

void write_images(const TemporaryDirectory& directory, std::uint32_t rows, std::uint32_t columns,
                  char label) {
  for (const char* split : {"train", "t10k"}) {
    const std::string name = split;
    write_file(directory / (name + "-images-idx3-ubyte"), idx_bytes({8, rows, columns}, 9));
    write_file(directory / (name + "-labels-idx1-ubyte"), idx_bytes({8}, label));
  }
}

TEST(TrainerImages, OfAnySizeHaveAsManyClassesAsTheirLabelsSay) {
  const TemporaryDirectory directory;
  write_images(directory, 20, 17, 41);
  const std::string weights = (directory / "weights.st").string();
  expect_success(train(mobilenet_on_images_in(directory) + Arguments{"--save-weights", weights}));
  const std::string file = file_content(weights);
  EXPECT_NE(file.find(R"("classifier.1.weight":{"dtype":"F32","shape":[42,1280])"), file.npos);
  EXPECT_NE(file.find(R"("features.0.0.weight":{"dtype":"F32","shape":[32,1,3,3])"), file.npos);
}

/// Writes a copy of the weights file `from` that has the tensor `name`, too.
void write_weights_with(const std::string& name, const std::string& from, const std::string& to) {
  std::vector<NamedTensor> tensors = load_safetensors(from).tensors;
  const std::int64_t count = 7;
  tensors.push_back({name, Tensor({}, std::span(&count, 1))});
  save_safetensors(to, tensors);
}

TEST(TrainerWeights, MayHaveTheCountsOfBatchNormsThatPyTorchKeepsAndNothingElse) {
  const TemporaryDirectory directory;
  write_images(directory, 4, 4, 2);
  const std::string weights = (directory / "weights.st").string(),
                    more = (directory / "more.st").string(),
                    again = (directory / "again.st").string();
  const Arguments still = mobilenet_on_images_in(directory) +
                          Arguments{"--optimizer", "sgd", "--learning-rate", "1e-30"};
  expect_success(train(still + Arguments{"--save-weights", weights}));
  write_weights_with("features.0.1.num_batches_tracked", weights, more);
  expect_success(train(still + Arguments{"--init-weights", more, "--save-weights", again}));
  write_weights_with("features.0.1.count", weights, more);
  const CommandResult result = train(still + Arguments{"--init-weights", more});
  EXPECT_EQ(result.code, 2);
  EXPECT_NE(result.err.find("--init-weights: "), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("features.0.1.count"), std::string::npos) << result.err;
}

TEST(TrainerImages, OfAnySizeAreRefusedIfTheTestHasOthersOrThereIsOneClass) {
  const auto refusal = [](const TemporaryDirectory& directory) {
    const CommandResult result = train(mobilenet_on_images_in(directory));
    EXPECT_EQ(result.code, 2);
    return result.err;
  };
  const TemporaryDirectory directory;
  write_images(directory, 20, 17, 0);
  EXPECT_NE(refusal(directory).find(": expected labels of two classes or more, got none but 0\n"),
            std::string::npos);
  write_file(directory / "t10k-images-idx3-ubyte", idx_bytes({8, 20, 16}));
  EXPECT_NE(refusal(directory).find(", test images: expected images of [1,20,17], got [1,20,16]\n"),
            std::string::npos);
}

}  // namespace
}  // namespace penstock::testing
