#include "apps/trainer/output/run_files.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tests/support/refusal.hpp"
#include "tests/support/temporary_directory.hpp"

namespace trainer {
namespace {

using Files = std::vector<RunFile>;
using penstock::testing::TemporaryDirectory;

std::string verdict(const Files& outputs, const Files& inputs = {}) {
  return penstock::testing::refusal(penstock::Errc::invalid_argument,
                                    [&] { check_distinct(outputs, inputs); });
}

TEST(RunFiles, AreAcceptedIfEachIsAnother) {
  const TemporaryDirectory directory;
  penstock::testing::write_file(directory / "in", "same content");
  penstock::testing::write_file(directory / "out", "same content");
  EXPECT_EQ(verdict({{"--metrics", directory / "out"}, {"--save-weights", directory / "new"}},
                    {{"--init-weights", directory / "in"}}),
            "accepted");
}

TEST(RunFiles, SavedWeightsMayReplaceTheFirstOnes) {
  EXPECT_EQ(verdict({{"--save-weights", "w"}}, {{"--init-weights", "w"}}), "accepted");
}

TEST(RunFiles, NoOutputReplacesAnInput) {
  EXPECT_EQ(verdict({{"--metrics", "./w"}}, {{"--init-weights", "w"}}),
            "--metrics \"./w\": would replace what the run reads, --init-weights \"w\"");
  EXPECT_NE(verdict({{"--save-weights", "d/labels"}}, {{"--dataset", "d/labels"}}), "accepted");
}

TEST(RunFiles, NoOutputReplacesAnother) {
  EXPECT_EQ(verdict({{"--metrics", "new"}, {"--save-weights", "d/../new"}}),
            "--metrics \"new\": is the same file as --save-weights \"d/../new\", and only one of "
            "them can be kept");
}

TEST(RunFiles, AreTheSameByWhateverName) {
  const TemporaryDirectory directory;
  penstock::testing::write_file(directory / "file", "");
  std::filesystem::create_symlink("file", directory / "link");
  std::filesystem::create_hard_link(directory / "file", directory / "twin");
  std::filesystem::create_directory_symlink(directory.path(), directory / "here");
  for (const char* name : {"link", "twin", "here/file", "here/link"})
    EXPECT_NE(verdict({{"--metrics", directory / name}}, {{"--dataset", directory / "file"}}),
              "accepted")
        << name;
}

TEST(RunFiles, NoOutputLiesInADirectoryThatIsRead) {
  const TemporaryDirectory directory;
  std::filesystem::create_directories(directory / "train/cats");
  std::filesystem::create_directories(directory / "training");
  std::filesystem::create_directory_symlink(directory / "train/cats", directory / "link");
  const Files inputs{{"--dataset", directory / "train"}};
  for (const char* const name : {"train", "train/new", "train/cats/1.png", "link/new"})
    EXPECT_NE(verdict({{"--metrics", directory / name}}, inputs), "accepted") << name;
  for (const char* const name : {"training/new", "new", "train.jsonl"})
    EXPECT_EQ(verdict({{"--metrics", directory / name}}, inputs), "accepted") << name;
}

TEST(RunFiles, AFileIsNoDirectoryOfAnother) {
  EXPECT_EQ(verdict({{"--profile-dir", "p/training/trace.json"}, {"--metrics", "p/training"}}),
            "--metrics \"p/training\": cannot be a directory too, of --profile-dir "
            "\"p/training/trace.json\"");
  EXPECT_EQ(verdict({{"--profile-dir", "p/trace.json"}, {"--metrics", "p/trace"}}), "accepted");
}

}  // namespace
}  // namespace trainer
