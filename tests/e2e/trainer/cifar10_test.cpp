// E6 of docs/reference.md: these tests run the trainer on images in CIFAR-10's binary format.

#include <gtest/gtest.h>

#include "tests/e2e/trainer/trainer.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/support/textured_images.hpp"

namespace penstock::testing {
namespace {

Arguments on_files_in(const TemporaryDirectory& directory) {
  write_file(directory / "data_batch_1.bin", cifar10_records(textured_images(1500, 1)));
  write_file(directory / "data_batch_2.bin", cifar10_records(textured_images(500, 2)));
  write_file(directory / "test_batch.bin", cifar10_records(textured_images(300, 3)));
  return {"--dataset",
          "cifar10",
          "--data-dir",
          directory.path().string(),
          "--device-iterations",
          "4",
          "--batch-size",
          "10",
          "--epochs",
          "5"};
}

// The colours of these images say nothing of their class, see textured_images.hpp. Trainings with
// four seeds got all images right.
TEST(TrainerOnCifar10, E6_LearnsClassesThatDifferByTheirStructureOnly) {
  const TemporaryDirectory directory;
  const CommandResult result =
      train(on_files_in(directory) + Arguments{"--model", "cifar-cnn", "--learning-rate", "0.003"});
  expect_success(result);
  EXPECT_GT(printed_accuracy(result), 95);
}

TEST(TrainerOnCifar10, E6_NeedsANetworkForItsImages) {
  const TemporaryDirectory directory;
  const CommandResult result = train(on_files_in(directory) + Arguments{"--model", "mlp"});
  EXPECT_NE(result.code, 0);
  EXPECT_NE(
      result.err.find(
          "expected images of [1,28,28], got [3,32,32]; add --model cifar-cnn, which takes these"),
      std::string::npos)
      << result.err;
  const CommandResult digits = train(quick + Arguments{"--model", "cifar-cnn"});
  EXPECT_NE(digits.code, 0);
  EXPECT_NE(digits.err.find("expected images of [3,32,32], got [1,28,28]; add --dataset cifar10, "
                            "whose images --model takes"),
            std::string::npos)
      << digits.err;
}

}  // namespace
}  // namespace penstock::testing
