// These tests run the trainer on a folder of images.

#include <gtest/gtest.h>

#include "tests/e2e/trainer/trainer.hpp"
#include "tests/support/drawn_images.hpp"
#include "tests/support/temporary_directory.hpp"

namespace penstock::testing {
namespace {

class TrainerOnAFolder : public ::testing::Test {
 protected:
  void SetUp() override {
    for (int i = 0; i < 12; ++i) {
      const std::string name = std::to_string(i) + ".png";
      images_.write("rgb.png", directory_ / ("train/shapes/" + name));
      images_.write("one_bit.png", directory_ / ("train/dots/" + name));
    }
    images_.write("rgb.jpg", directory_ / "test/shapes/1.jpg");
    images_.write("one_bit.png", directory_ / "test/dots/1.PNG");
  }

  CommandResult train_on_it(const Arguments& more) const {
    return train(Arguments{"--dataset", "folder", "--data-dir", path(), "--batch-size", "4",
                           "--device-iterations", "1", "--gradient-accumulation", "3", "--epochs",
                           "8", "--test-batch-size", "1"} +
                 more);
  }
  std::string path() const { return directory_.path().string(); }

  TemporaryDirectory directory_;
  DrawnImages images_;
};

TEST_F(TrainerOnAFolder, LearnsItsClassesWithEveryKindOfNetwork) {
  for (const std::string network : {"mlp", "cifar-cnn"}) {
    const CommandResult result = train_on_it({"--model", network});
    expect_success(result);
    EXPECT_EQ(printed_accuracy(result), 100) << network << ": " << result.out;
  }
}

TEST_F(TrainerOnAFolder, TrainsOnRandomWindowsIfToldSo) {
  const Arguments run{"--model", "mlp", "--save-weights"};
  const auto weights = [&](const Arguments& more) {
    const std::string file = (directory_ / "weights").string();
    expect_success(train_on_it(run + Arguments{file} + more));
    return file_content(file);
  };
  const std::string windows = weights({"--random-crops"});
  EXPECT_NE(windows, weights({}));
  EXPECT_EQ(windows, weights({"--random-crops", "--num-workers", "4"}));
}

TEST_F(TrainerOnAFolder, IsRefusedIfTheFoldersDoNotFit) {
  const auto refused = [&] {
    const CommandResult result = train_on_it({"--model", "mlp"});
    EXPECT_NE(result.code, 0);
    return result.err;
  };
  images_.write("rgb.png", directory_ / "test/more/1.png");
  EXPECT_NE(refused().find(path() + ": expected the same classes in the folders train and test"),
            std::string::npos);
  for (int i = 0; i < 9; ++i)
    images_.write("rgb.png", directory_ / ("train/class" + std::to_string(i) + "/1.png"));
  EXPECT_NE(refused().find("expected at most 10 folders, one for each class, got 11"),
            std::string::npos);
  std::filesystem::remove_all(directory_ / "train");
  EXPECT_NE(refused().find("tell with --data-dir where the folders train and test are"),
            std::string::npos);
}

}  // namespace
}  // namespace penstock::testing
