// These tests compare the trainer with PyTorch, in runs of a few updates from the same weights on
// the same images.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "engine/files/weights_file.hpp"
#include "tests/e2e/trainer/metrics_file.hpp"
#include "tests/e2e/trainer/trainer.hpp"
#include "tests/support/data_path.hpp"
#include "tests/support/reference_file.hpp"
#include "tests/support/temporary_directory.hpp"

namespace penstock::testing {
namespace {

constexpr double tolerance = 2e-4;

class TrainerTrajectory : public ::testing::TestWithParam<const char*> {
 protected:
  TrainerTrajectory()
      : reference_(read_reference(data_path("trajectories/" + std::string(GetParam())))) {}

  const std::string& metadata(const std::string& key) const { return reference_.metadata.at(key); }

  /// Returns the tensors whose names begin with `prefix`, by the rest of their names.
  std::map<std::string, Tensor> tensors(const std::string& prefix) const {
    std::map<std::string, Tensor> found;
    for (const auto& [name, tensor] : reference_.tensors)
      if (name.rfind(prefix, 0) == 0) found.emplace(name.substr(prefix.size()), tensor);
    return found;
  }

  /// Returns a directory with the training images that PyTorch saw. The test images do not matter.
  std::filesystem::path images() const {
    const auto images = directory_ / "images";
    std::filesystem::create_directory(images);
    const bool fashion = metadata("dataset") == "fashion-mnist";
    for (const std::string kind : {"images-idx3-ubyte.gz", "labels-idx1-ubyte.gz"}) {
      link(data_path(fashion ? "fashion" : "mnist") / ("train-" + kind), images);
      link(data_path("mnist") / ("t10k-" + kind), images);
    }
    return images;
  }

  static void link(const std::filesystem::path& file, const std::filesystem::path& directory) {
    std::filesystem::create_symlink(file, directory / file.filename());
  }

  CommandResult run(const Arguments& more) const {
    write_weights_file(directory_ / "init", {.tensors = tensors("init.")});
    Arguments arguments{"--model",
                        metadata("model"),
                        "--dataset",
                        "mnist",
                        "--data-dir",
                        images().string(),
                        "--no-shuffle",
                        "--epochs",
                        "1",
                        "--optimizer",
                        metadata("optimizer"),
                        "--learning-rate",
                        metadata("lr"),
                        "--batch-size",
                        metadata("batch_size"),
                        "--gradient-accumulation",
                        metadata("gradient_accumulation"),
                        "--max-updates",
                        metadata("updates"),
                        "--init-weights",
                        (directory_ / "init").string(),
                        "--save-weights",
                        (directory_ / "final").string(),
                        "--metrics",
                        (directory_ / "metrics").string()};
    if (reference_.metadata.count("momentum"))
      arguments = arguments + Arguments{"--momentum", metadata("momentum")};
    return train(arguments + more);
  }

  /// Returns the losses of all steps, micro-batch by micro-batch.
  std::vector<double> losses() const {
    std::vector<double> losses;
    for (const auto& line : metrics_lines(directory_ / "metrics"))
      if (line.contains("losses"))
        for (const double loss : line["losses"]) losses.push_back(loss);
    return losses;
  }

  void expect_the_same_losses() const {
    const auto expected = reference_.tensors.at("losses").as<float>();
    const std::vector<double> got = losses();
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t i = 0; i < got.size(); ++i)
      EXPECT_NEAR(got[i], expected[i], tolerance * std::abs(expected[i])) << "micro-batch " << i;
  }

  void expect_the_same_weights() const {
    const auto got = read_weights_file(directory_ / "final").tensors;
    for (const auto& [name, tensor] : tensors("final.")) {
      const auto expected = tensor.as<float>(), values = got.at(name).as<float>();
      ASSERT_EQ(values.size(), expected.size()) << name;
      double largest = 0, error = 0;
      for (std::size_t i = 0; i < expected.size(); ++i) {
        largest = std::max(largest, std::abs(double{expected[i]}));
        error = std::max(error, std::abs(double{expected[i]} - double{values[i]}));
      }
      EXPECT_LE(error, tolerance * largest) << name;
    }
  }

  ReferenceFile reference_;
  TemporaryDirectory directory_;
};

// E5 of docs/reference.md: fashion_cnn is trained on images of Fashion-MNIST.
TEST_P(TrainerTrajectory, IsPyTorchs) {
  const CommandResult result = run({});
  ASSERT_EQ(result.code, 0) << result.err;
  expect_the_same_losses();
  expect_the_same_weights();
}

INSTANTIATE_TEST_SUITE_P(PyTorch, TrainerTrajectory,
                         ::testing::Values("mnist_cnn_adamw.safetensors",
                                           "fashion_cnn_sgd_momentum.safetensors",
                                           "mlp_sgd_momentum.safetensors"),
                         [](const auto& info) {
                           const std::string file = info.param;
                           return file.substr(0, file.find('.'));
                         });

}  // namespace
}  // namespace penstock::testing
