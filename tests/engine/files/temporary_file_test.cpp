#include "engine/files/temporary_file.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <system_error>

#include "tests/support/temporary_directory.hpp"

namespace penstock {
namespace {

using testing::file_content;
using testing::TemporaryDirectory;
using testing::write_file;
using Names = std::set<std::string>;

/// TemporaryFileNames runs tests with temporary files that have a name and, if the file system
/// allows them, with temporary files without a name.
class TemporaryFileNames : public ::testing::TestWithParam<TemporaryFile::Name> {
 protected:
  void write(const TemporaryFile& file, const std::string& text) {
    ASSERT_EQ(::write(file.descriptor(), text.data(), text.size()),
              static_cast<ssize_t>(text.size()));
  }

  TemporaryDirectory directory_;
};

TEST_P(TemporaryFileNames, BecomesAFileThatWasNotThere) {
  {
    TemporaryFile file(directory_.path(), GetParam());
    write(file, "after");
    file.become(directory_ / "out");
  }
  EXPECT_EQ(file_content(directory_ / "out"), "after");
  EXPECT_EQ(directory_.entries(), Names{"out"});
}

TEST_P(TemporaryFileNames, TakesTheNameOfAFileThatWasThere) {
  write_file(directory_ / "out", "before");
  {
    TemporaryFile file(directory_.path(), GetParam());
    write(file, "after");
    file.become(directory_ / "out");
  }
  EXPECT_EQ(file_content(directory_ / "out"), "after");
  EXPECT_EQ(directory_.entries(), Names{"out"});
}

TEST_P(TemporaryFileNames, VanishesOtherwise) {
  write(TemporaryFile(directory_.path(), GetParam()), "text");
  EXPECT_EQ(directory_.entries(), Names{});
}

TEST_P(TemporaryFileNames, LeavesATargetThatItCannotReplace) {
  std::filesystem::create_directory(directory_ / "out");
  {
    TemporaryFile file(directory_.path(), GetParam());
    EXPECT_THROW(file.become(directory_ / "out"), std::system_error);
  }
  EXPECT_EQ(directory_.entries(), Names{"out"});
}

TEST_P(TemporaryFileNames, NeedsADirectory) {
  EXPECT_THROW(TemporaryFile(directory_ / "missing", GetParam()), std::system_error);
}

INSTANTIATE_TEST_SUITE_P(Each, TemporaryFileNames,
                         ::testing::Values(TemporaryFile::Name::avoided,
                                           TemporaryFile::Name::needed),
                         [](const auto& info) {
                           return info.param == TemporaryFile::Name::needed ? "Named" : "Nameless";
                         });

TEST(TemporaryFile, HasANameOnlyIfItNeedsOne) {
  const TemporaryDirectory directory;
  const TemporaryFile nameless(directory.path());
  EXPECT_EQ(directory.entries().size(), 0U);
  const TemporaryFile named(directory.path(), TemporaryFile::Name::needed);
  EXPECT_EQ(directory.entries().size(), 1U);
}

TEST(TemporaryFile, RemovesOnlyTheOldOnesOfProcessesThatAreNoMore) {
  const TemporaryDirectory directory;
  const std::string running = ".penstock-" + std::to_string(::getpid()) + "-0.tmp";
  const Names others{running,
                     ".penstock-2000000000.tmp",
                     ".penstock-2000000000-.tmp",
                     ".penstock-2000000000-1.tmp.bak",
                     ".penstock-99999999999-1.tmp",
                     ".penstock-0-1.tmp",
                     ".penstock--1-1.tmp",
                     ".penstock-2000000000--1.tmp",
                     ".penstock-mine-1.tmp",
                     "penstock-2000000000-1.tmp"};
  Names all = others;
  all.insert(".penstock-2000000000-7.tmp");
  const auto now = std::filesystem::file_time_type::clock::now();
  for (const std::string& name : all) {
    write_file(directory / name, "x");
    std::filesystem::last_write_time(directory / name, now - std::chrono::minutes(10));
  }
  TemporaryFile::remove_abandoned(directory.path(), std::chrono::minutes(11));
  EXPECT_EQ(directory.entries(), all);
  TemporaryFile::remove_abandoned(directory.path(), std::chrono::minutes(9));
  EXPECT_EQ(directory.entries(), others);
  TemporaryFile::remove_abandoned(directory / "nowhere", std::chrono::minutes(9));
}

}  // namespace
}  // namespace penstock
