#include "penstock/output_file.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "penstock/error.hpp"
#include "tests/support/temporary_directory.hpp"

namespace penstock {
namespace {

using testing::file_content;
using testing::TemporaryDirectory;
using testing::write_file;
using Names = std::set<std::string>;

void expect_refused(const std::filesystem::path& target, const std::string& reason) {
  try {
    OutputFile file(target);
    ADD_FAILURE() << "accepted " << target;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::io_error);
    EXPECT_EQ(error.what(), "cannot write \"" + target.string() + "\": " + reason);
  }
}

TEST(OutputFile, AppearsAtCommitWithAllThatWasWritten) {
  TemporaryDirectory directory;
  std::string expected;
  OutputFile file(directory / "out");
  for (int line = 0; line < 30000; ++line) {
    const std::string text = "line " + std::to_string(line) + "\n";
    expected += text;
    file.write(text);
  }
  EXPECT_FALSE(std::filesystem::exists(directory / "out"));
  file.commit();
  EXPECT_EQ(file_content(directory / "out"), expected);
  EXPECT_EQ(directory.entries(), Names{"out"});
}

TEST(OutputFile, TakesBytesLargerThanItsBuffer) {
  TemporaryDirectory directory;
  const std::string large(1 << 20, 'x');
  OutputFile file(directory / "out");
  file.write("head");
  file.write(std::as_bytes(std::span(large)));
  file.commit();
  EXPECT_EQ(file_content(directory / "out"), "head" + large);
}

TEST(OutputFile, LeavesTheTargetAndNothingElseWithoutCommit) {
  TemporaryDirectory directory;
  write_file(directory / "out", "before");
  { OutputFile(directory / "out").write(std::string(1 << 20, 'x')); }
  EXPECT_EQ(file_content(directory / "out"), "before");
  EXPECT_EQ(directory.entries(), Names{"out"});
}

TEST(OutputFile, ReplacesAFileAndKeepsItsPermissions) {
  TemporaryDirectory directory;
  write_file(directory / "out", "before");
  std::filesystem::permissions(directory / "out", std::filesystem::perms{0640});
  OutputFile file(directory / "out");
  file.write("after");
  file.commit();
  EXPECT_EQ(file_content(directory / "out"), "after");
  EXPECT_EQ(std::filesystem::status(directory / "out").permissions(), std::filesystem::perms{0640});
}

TEST(OutputFile, FollowsALinkToTheFileItNames) {
  TemporaryDirectory directory;
  write_file(directory / "real", "before");
  std::filesystem::create_symlink("real", directory / "link");
  OutputFile file(directory / "link");
  file.write("after");
  file.commit();
  EXPECT_TRUE(std::filesystem::is_symlink(directory / "link"));
  EXPECT_EQ(file_content(directory / "real"), "after");
}

TEST(OutputFile, TwoForOneTargetDoNotMix) {
  TemporaryDirectory directory;
  OutputFile first(directory / "out"), second(directory / "out");
  first.write("first");
  second.write("second");
  second.commit();
  EXPECT_EQ(file_content(directory / "out"), "second");
  first.commit();
  EXPECT_EQ(file_content(directory / "out"), "first");
}

TEST(OutputFile, RefusesWhatCannotBeWrittenAtOnce) {
  TemporaryDirectory directory;
  write_file(directory / "file", "");
  ASSERT_EQ(::mkfifo((directory / "fifo").c_str(), 0600), 0);
  expect_refused(directory / "missing" / "out", "No such file or directory");
  expect_refused(directory / "file" / "out", "Not a directory");
  expect_refused(directory.path(), "Is a directory");
  expect_refused(directory / "missing/", "Is a directory");
  expect_refused("", "No such file or directory");
  expect_refused(directory / "fifo", "it is not a regular file");
  expect_refused("/dev/null", "it is not a regular file");
  expect_refused(directory / std::string(300, 'x'), "File name too long");
  EXPECT_EQ(directory.entries(), (Names{"fifo", "file"}));
}

TEST(OutputFile, RefusesTheFileThatTheStandardOutputGoesTo) {
  TemporaryDirectory directory;
  write_file(directory / "log", "");
  const auto redirect_and_open = [&] {
    if (!std::freopen((directory / "log").c_str(), "a", stdout)) std::exit(2);
    expect_refused(directory / "log", "the standard output or error goes there; name another file");
    OutputFile other(directory / "other");
    std::exit(::testing::Test::HasFailure() ? 1 : 0);
  };
  EXPECT_EXIT(redirect_and_open(), ::testing::ExitedWithCode(0), "");
}

TEST(OutputFile, TakesTheLongestNameThatAFileCanHave) {
  TemporaryDirectory directory;
  const std::string longest(255, 'x');
  for (const char* text : {"first", "second"}) {
    OutputFile file(directory / longest);
    file.write(text);
    file.commit();
    EXPECT_EQ(file_content(directory / longest), text);
  }
  EXPECT_EQ(directory.entries(), Names{longest});
}

TEST(OutputFile, LeavesNothingBehindInAProcessThatIsKilled) {
  TemporaryDirectory directory;
  write_file(directory / "out", "before");
  const auto write_and_die = [&] {
    OutputFile file(directory / "out"), other(directory / "other");
    file.write(std::string(1 << 20, 'x'));
    std::raise(SIGKILL);
  };
  EXPECT_EXIT(write_and_die(), ::testing::KilledBySignal(SIGKILL), "");
  EXPECT_EQ(file_content(directory / "out"), "before");
  EXPECT_EQ(directory.entries(), Names{"out"});
}

/// Lets this process write files of at most so many bytes, as a full disk would.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  void (*handler_)(int);
  rlimit before_ = {};
};

TEST(OutputFile, AWriteThatFailsLeavesTheTargetAsItWas) {
  TemporaryDirectory directory;
  write_file(directory / "out", "before");
  {
    OutputFile file(directory / "out");
    const FileSizeLimit limit(1000);
    file.write(std::string(2000, 'x'));
    EXPECT_THROW(file.commit(), Error);
  }
  EXPECT_EQ(file_content(directory / "out"), "before");
  EXPECT_EQ(directory.entries(), Names{"out"});
}

}  // namespace
}  // namespace penstock
