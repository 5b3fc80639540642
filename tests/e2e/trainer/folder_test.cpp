// These tests run the trainer on a folder of images.

#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>
#include <utility>

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

  void write_broken_file(const std::string& name) const {
    std::filesystem::create_directories((directory_ / name).parent_path());
    write_file(directory_ / name, "broken");
  }
  /// Writes a broken file that is too many bytes for files to be decoded ahead, but takes no room
  /// on the disk, and returns its path.
  std::filesystem::path write_large_file(const std::string& name) const {
    write_broken_file(name);
    std::filesystem::resize_file(directory_ / name, std::uintmax_t{1} << 31);
    return directory_ / name;
  }

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

/// Returns how many lines of `text` have `part`.
std::ptrdiff_t lines_with(const std::string& part, const std::string& text) {
  std::istringstream lines(text);
  std::ptrdiff_t count = 0;
  for (std::string line; std::getline(lines, line);)
    if (line.find(part) != line.npos) ++count;
  return count;
}

TEST_F(TrainerOnAFolder, RefusesBrokenImagesBeforeItTrains) {
  for (const std::string folder : {"train/dots", "test/shapes"}) {
    const auto file = directory_ / (folder + "/broken.png");
    write_file(file, images_.bytes("rgb.png").substr(0, 100));
    const CommandResult result = train_on_it({"--model", "mlp"});
    EXPECT_EQ(result.code, 2);
    EXPECT_EQ(lines_with("", result.err), 1) << result.err;
    EXPECT_NE(result.err.find(": expected images that can be decoded, got 1 of "),
              std::string::npos)
        << result.err;
    EXPECT_NE(result.err.find(file.string() + ": "), std::string::npos) << result.err;
    EXPECT_NE(result.err.find("; --broken-images skip leaves broken images out\n"),
              std::string::npos)
        << result.err;
    std::filesystem::remove(file);
  }
}

TEST_F(TrainerOnAFolder, SkipsBrokenImagesIfToldSo) {
  const Arguments run{"--model", "mlp", "--broken-images", "skip", "--save-weights"};
  const auto weights_and_notes = [&] {
    const std::string file = (directory_ / "weights").string();
    const CommandResult result = train_on_it(run + Arguments{file});
    expect_success(result);
    return std::pair(file_content(file), result.err);
  };
  const std::string expected = weights_and_notes().first;
  write_file(directory_ / "test/dots/broken.png", "broken");
  for (int i = 0; i < 12; ++i)
    write_file(directory_ / ("train/dots/1" + std::to_string(i) + "x.png"), "broken");
  const auto [weights, notes] = weights_and_notes();
  EXPECT_TRUE(weights == expected);
  EXPECT_EQ(lines_with("note: --broken-images skip: " + path() + "/train/dots/1", notes), 10);
  EXPECT_EQ(
      lines_with("note: --broken-images skip: " + path() + "/train: 2 more images are left out",
                 notes),
      1);
  EXPECT_EQ(lines_with("note: --broken-images skip: " + path() +
                           "/test/dots/broken.png: expected a PNG or JPEG image, got something "
                           "else; it is left out",
                       notes),
            1)
      << notes;
}

TEST_F(TrainerOnAFolder, SaysHowToLeaveOutABrokenImageThatItFindsWhileItTrains) {
  const auto large = write_large_file("train/dots/large.png");
  const CommandResult result = train_on_it({"--model", "mlp"});
  EXPECT_NE(result.code, 0);
  EXPECT_EQ(lines_with(" failed: " + large.string() + ": expected a file for at most", result.err),
            1)
      << result.err;
  EXPECT_NE(result.err.find("; --broken-images skip leaves broken images out\n"), std::string::npos)
      << result.err;
  expect_success(train_on_it({"--model", "mlp", "--broken-images", "skip"}));
}

TEST_F(TrainerOnAFolder, GoesOnFromACheckpointWithoutABrokenImage) {
  const Arguments run{"--model", "mlp", "--checkpoint-dir", (directory_ / "run").string(),
                      "--max-updates"};
  expect_success(train_on_it(run + Arguments{"3"}));
  write_file(directory_ / "train/dots/broken.png", "broken");
  expect_success(train_on_it(run + Arguments{"5", "--resume", "--broken-images", "skip"}));
}

TEST_F(TrainerOnAFolder, CountsTheBrokenImagesOfAClassThatHasNoOthers) {
  images_.write("rgb.png", directory_ / "test/more/1.png");
  for (const char* file : {"train/dots/1.png", "train/more/2.png", "train/more/3.png"})
    write_broken_file(file);
  for (const Arguments& how : {Arguments{}, Arguments{"--broken-images", "skip"}}) {
    const CommandResult result = train_on_it(Arguments{"--model", "mlp"} + how);
    EXPECT_EQ(result.code, 2);
    EXPECT_EQ(lines_with(path() +
                             "/train: expected an image of the class \"more\" that can be "
                             "decoded, got 2 images that cannot; the first: " +
                             path() + "/train/more/2.png: ",
                         result.err),
              1)
        << result.err;
  }
}

TEST_F(TrainerOnAFolder, KeepsWhatWasTrainedIfTheTestFails) {
  const auto large = write_large_file("test/dots/large.png");
  const std::string file = (directory_ / "weights").string(),
                    metrics = (directory_ / "metrics").string();
  const CommandResult result =
      train_on_it({"--model", "mlp", "--save-weights", file, "--metrics", metrics});
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(lines_with("note: the test has failed: data loader: ", result.err), 1) << result.err;
  EXPECT_EQ(lines_with(large.string() + ": expected a file for at most", result.err), 1)
      << result.err;
  EXPECT_TRUE(
      result.err.ends_with("penstock-train: the test has failed; the files of --metrics, "
                           "--save-weights are in place\n"))
      << result.err;
  std::filesystem::remove(large);
  EXPECT_EQ(lines_with("loss", file_content(metrics)), 16);
  expect_success(train_on_it({"--model", "mlp", "--init-weights", file}));
}

TEST_F(TrainerOnAFolder, SaysWhatIsLostIfTheTestFails) {
  write_large_file("test/dots/large.png");
  const auto last_line = [&](const Arguments& more) {
    const std::string text = train_on_it(Arguments{"--model", "mlp"} + more).err;
    EXPECT_EQ(lines_with("note: the test has failed: data loader: ", text), 1) << text;
    return text.substr(text.rfind('\n', text.size() - 2) + 1);
  };
  const std::string start = "penstock-train: the test has failed; ";
  EXPECT_EQ(last_line({}), start +
                               "the trained weights are lost, because there is no "
                               "--save-weights\n");
  EXPECT_EQ(last_line({"--metrics", (directory_ / "metrics").string()}),
            start +
                "the file of --metrics is in place, and the trained weights are lost, because "
                "there is no --save-weights\n");
  EXPECT_EQ(last_line({"--checkpoint-dir", (directory_ / "run").string()}),
            start + "--checkpoint-dir has a checkpoint of the whole training\n");
  const Arguments weights{"--save-weights", (directory_ / "weights").string()};
  EXPECT_EQ(last_line(weights), start + "the file of --save-weights is in place\n");
  // Such a large step leaves weights that are not finite, which are not saved.
  EXPECT_EQ(last_line(weights + Arguments{"--optimizer", "sgd", "--learning-rate", "1e30"})
                .find("penstock-train: --save-weights: expected finite weights after training"),
            0u);
}

TEST_F(TrainerOnAFolder, IsRefusedIfTheFoldersDoNotFit) {
  const auto refused = [&] {
    const CommandResult result = train_on_it({"--model", "mlp"});
    EXPECT_NE(result.code, 0);
    return result.err;
  };
  images_.write("rgb.png", directory_ / "test/more/1.png");
  EXPECT_EQ(refused(), "penstock-train: " + path() +
                           ": expected the same classes in the folders train and test, got "
                           "\"more\" only in test; each class needs a folder of images in both\n");
  std::filesystem::remove_all(directory_ / "test/dots");
  EXPECT_NE(refused().find(", got \"dots\" only in train, \"more\" only in test; each class"),
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
