#include "apps/trainer/checkpoints.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "apps/trainer/options/configuration.hpp"
#include "penstock/checkpoint.hpp"
#include "penstock/error.hpp"
#include "tests/support/temporary_directory.hpp"

namespace trainer {
namespace {

using penstock::testing::TemporaryDirectory;

constexpr const char* sha256_of_network = "3009be76";
constexpr const char* sha256_of_another = "ae448ac8";

class ResumedNetwork : public testing::Test {
 protected:
  std::string path(const std::string& file) const { return (directory_ / file).string(); }

  TrainerOptions options(const std::optional<std::string>& onnx,
                         const std::string& model = "mnist-cnn") const {
    TrainerOptions options;
    options.network.model = model;
    if (onnx) options.network.onnx = path(*onnx);
    options.checkpoints = {.dir = path("run"), .resume = true};
    return options;
  }

  /// Returns the digest of the file of --onnx: other.onnx has another network than all others.
  std::string sha256_of(const TrainerOptions& options) const {
    if (!options.network.onnx) return "";
    return *options.network.onnx == path("other.onnx") ? sha256_of_another : sha256_of_network;
  }

  /// Saves a checkpoint of a run with `options`. If `knows_content` is false, the checkpoint is as
  /// those of versions that did not save the checksum of a file.
  void save(const TrainerOptions& options, bool knows_content = true) const {
    penstock::SavedState state =
        saved({.options = configuration_text(options),
               .onnx_sha256 = RunCheckpoints(options, sha256_of(options)).onnx_sha256()});
    if (!knows_content) state.texts.erase("onnx_sha256");
    penstock::CheckpointDirectory run(path("run"), 1);
    run.save({.updates = 5, .states = {{std::string("callback ") + run_state_name, state}}});
    run.wait();
  }

  /// Returns why a run with `options` does not go on, or an empty text if it does. Paths lose the
  /// directory.
  std::string refusal(const TrainerOptions& options) const try {
    EXPECT_TRUE(RunCheckpoints(options, sha256_of(options)).checkpoint());
    return "";
  } catch (const penstock::Error& error) {
    std::string text = error.what();
    const std::string directory = directory_.path().string() + '/';
    for (auto at = text.find(directory); at != text.npos; at = text.find(directory))
      text.erase(at, directory.size());
    return text;
  }

  TemporaryDirectory directory_;
  const std::string subject_ =
      "--resume: \"run/checkpoint-000000000005.safetensors\": the options are not those of the "
      "run: ";
};

TEST_F(ResumedNetwork, IsTheSameWhateverItsFileIsCalled) {
  save(options("a.onnx"));
  EXPECT_EQ(refusal(options("a.onnx")), "");
  EXPECT_EQ(refusal(options("./a.onnx")), "");
  EXPECT_EQ(refusal(options("same.onnx")), "");
}

TEST_F(ResumedNetwork, IsRefusedIfItsFileHasAnotherContent) {
  save(options("a.onnx"));
  EXPECT_EQ(refusal(options("other.onnx")),
            subject_ +
                "--onnx: expected the network that the run trains, a.onnx with the SHA-256 " +
                sha256_of_network + ", got other.onnx with " + sha256_of_another +
                "; give the file that the run began with, or begin a run with another "
                "--checkpoint-dir");
}

TEST_F(ResumedNetwork, IsComparedByItsPathIfTheCheckpointHasNoChecksum) {
  save(options("a.onnx"), false);
  EXPECT_EQ(refusal(options("a.onnx")), "");
  EXPECT_EQ(refusal(options("same.onnx")),
            subject_ +
                "--onnx: expected the path a.onnx, because the checkpoint has no SHA-256 of the "
                "file, so that only its path can be compared, got same.onnx; give the path that "
                "the run had");
}

TEST_F(ResumedNetwork, IsNamedIfTheRunHasNoneOrAnotherOne) {
  save(options("a.onnx"));
  EXPECT_EQ(refusal(options({}, "resnet18")),
            subject_ +
                "--onnx: expected the imported network that the run trains, a.onnx, got --model "
                "resnet18; name its file with --onnx");
}

TEST_F(ResumedNetwork, IsRefusedInPlaceOfOneOfTheTrainers) {
  save(options({}));
  EXPECT_EQ(refusal(options("a.onnx")),
            subject_ +
                "--onnx: expected --model mnist-cnn, which the run trains, got the imported "
                "network a.onnx; leave --onnx out");
}

}  // namespace
}  // namespace trainer
