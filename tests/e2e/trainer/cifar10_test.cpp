// E6: the trainer on images in CIFAR-10's binary format.

#include <gtest/gtest.h>

#include "tests/e2e/trainer/trainer.hpp"
#include "tests/support/temporary_directory.hpp"

namespace penstock::testing {
namespace {

/// Images whose colours and stripes tell their class.
std::string records(int count) {
  std::string bytes;
  for (int image = 0; image < count; ++image) {
    const int label = image % 10;
    bytes += static_cast<char>(label);
    for (int channel = 0; channel < 3; ++channel)
      for (int pixel = 0; pixel < 32 * 32; ++pixel)
        bytes += static_cast<char>(20 * (label * (channel + 1) % 10) +
                                   (pixel / 32 * (label + 1) + image) % 40);
  }
  return bytes;
}

Arguments on_files_in(const TemporaryDirectory& directory) {
  write_file(directory / "data_batch_1.bin", records(600));
  write_file(directory / "data_batch_2.bin", records(200));
  write_file(directory / "test_batch.bin", records(100));
  return {"--dataset",
          "cifar10",
          "--data-dir",
          directory.path().string(),
          "--device-iterations",
          "4",
          "--batch-size",
          "10",
          "--epochs",
          "8"};
}

TEST(TrainerOnCifar10, E6_LearnsFromFilesOfItsFormat) {
  const TemporaryDirectory directory;
  const CommandResult result =
      train(on_files_in(directory) + Arguments{"--model", "cifar-cnn", "--learning-rate", "0.01"});
  expect_success(result);
  EXPECT_GT(printed_accuracy(result), 90);
}

TEST(TrainerOnCifar10, E6_NeedsANetworkForItsImages) {
  const TemporaryDirectory directory;
  const CommandResult result = train(on_files_in(directory) + Arguments{"--model", "mlp"});
  EXPECT_NE(result.code, 0);
  EXPECT_NE(result.err.find("expected images of [1,28,28], got [3,32,32]"), std::string::npos)
      << result.err;
  const CommandResult digits = train(quick + Arguments{"--model", "cifar-cnn"});
  EXPECT_NE(digits.code, 0);
  EXPECT_NE(digits.err.find("expected images of [3,32,32], got [1,28,28]"), std::string::npos)
      << digits.err;
}

}  // namespace
}  // namespace penstock::testing
