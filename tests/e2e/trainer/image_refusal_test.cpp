// The trainer refuses these runs because something is wrong with its images.

#include <gtest/gtest.h>

#include "tests/e2e/trainer/refusal.hpp"
#include "tests/support/idx_bytes.hpp"

namespace penstock::testing {
namespace {

const std::string train_images = "train-images-idx3-ubyte";
const std::string train_labels = "train-labels-idx1-ubyte";
const std::string test_images = "t10k-images-idx3-ubyte";
const std::string test_labels = "t10k-labels-idx1-ubyte";

void write_good_images(const TemporaryDirectory& directory) {
  for (const std::string& images : {train_images, test_images})
    write_file(directory / images, idx_bytes({8, 28, 28}));
  for (const std::string& labels : {train_labels, test_labels})
    write_file(directory / labels, idx_bytes({8}));
}

Arguments on_images_in(const TemporaryDirectory& directory) {
  return {"--dataset",
          "mnist",
          "--data-dir",
          directory.path().string(),
          "--batch-size",
          "1",
          "--gradient-accumulation",
          "1",
          "--device-iterations",
          "1"};
}

TEST(TrainerImages, AreAcceptedIfNothingIsWrongWithThem) {
  const TemporaryDirectory directory;
  write_good_images(directory);
  const CommandResult result = train(on_images_in(directory));
  EXPECT_EQ(result.code, 0) << result.err;
}

BadRun with(const std::string& file, const std::string& content) {
  return [=](const TemporaryDirectory& inputs) {
    write_good_images(inputs);
    write_file(inputs / file, content);
    return on_images_in(inputs);
  };
}

BadRun without(const std::string& file) {
  return [=](const TemporaryDirectory& inputs) {
    write_good_images(inputs);
    std::filesystem::remove(inputs / file);
    return on_images_in(inputs);
  };
}

Arguments without_any(const TemporaryDirectory&) {
  return {"--dataset", "mnist", "--data-dir", "/nowhere"};
}

Arguments without_fashion(const TemporaryDirectory&) {
  return {"--data-dir", "/nowhere"};
}

std::string without_end(const std::string& bytes) {
  return bytes.substr(0, bytes.size() - 1);
}

const std::vector<Refusal> image_refusals{
    {"MissingDirectory", without_any, "/nowhere"},
    {"MissingMnist", without_any,
     "there is none; tell with --data-dir where MNIST's four IDX files are"},
    {"MissingFashionMnist", without_fashion,
     "there is none; install the package dataset-fashion-mnist, or tell with --data-dir"},
    {"MissingTrainingImages", without(train_images), train_images},
    {"MissingTestLabels", without(test_labels), test_labels},
    {"Truncated", with(train_images, without_end(idx_bytes({8, 28, 28}))), train_images},
    {"CorruptGzip", with(train_images, "\x1f\x8b\x08 and then nonsense"), train_images},
    {"WrongMagic", with(train_images, idx_bytes({8})), train_images},
    {"CountsThatDisagree", with(train_labels, idx_bytes({7})), train_labels},
    {"LabelOutOfRange", with(test_labels, idx_bytes({8}, 10)), test_labels},
    {"OtherSize", with(test_images, idx_bytes({8, 32, 32})), "[1,32,32]"}};

INSTANTIATE_TEST_SUITE_P(Images, TrainerRefusal, ::testing::ValuesIn(image_refusals), refusal_name);

}  // namespace
}  // namespace penstock::testing
