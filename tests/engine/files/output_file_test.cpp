#include "penstock/output_file.hpp"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <thread>
#include <vector>

#include "penstock/error.hpp"
#include "tests/support/file_size_limit.hpp"
#include "tests/support/other_user.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/support/temporary_directory.hpp"

namespace penstock {
namespace {

using testing::file_content;
using testing::FileSizeLimit;
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

TEST(OutputFile, FollowsLinksToAFileThatIsNotThereYet) {
  TemporaryDirectory directory;
  std::filesystem::create_directory(directory / "inner");
  std::filesystem::create_symlink("inner/next", directory / "link");
  std::filesystem::create_symlink("real", directory / "inner" / "next");
  OutputFile file(directory / "link");
  file.write("text");
  file.commit();
  EXPECT_TRUE(std::filesystem::is_symlink(directory / "link"));
  EXPECT_TRUE(std::filesystem::is_symlink(directory / "inner" / "next"));
  EXPECT_FALSE(std::filesystem::is_symlink(directory / "inner" / "real"));
  EXPECT_EQ(file_content(directory / "inner" / "real"), "text");
  EXPECT_EQ(directory.entries(), (Names{"inner", "link"}));
}

TEST(OutputFile, RefusesALinkThatLeadsToNoFile) {
  TemporaryDirectory directory;
  std::filesystem::create_symlink("loop", directory / "loop");
  std::filesystem::create_symlink("nowhere/file", directory / "lost");
  std::filesystem::create_directory_symlink(".", directory / "here");
  expect_refused(directory / "loop", "Too many levels of symbolic links");
  expect_refused(directory / "lost", "No such file or directory");
  expect_refused(directory / "here", "Is a directory");
  EXPECT_EQ(directory.entries(), (Names{"here", "loop", "lost"}));
}

TEST(OutputFile, WritesThroughNoLinkIfItIsToldSo) {
  TemporaryDirectory directory;
  write_file(directory / "real", "before");
  std::filesystem::create_symlink("real", directory / "link");
  std::filesystem::create_symlink("nothing", directory / "dangling");
  for (const char* name : {"link", "dangling"})
    EXPECT_EQ(testing::refusal(Errc::io_error,
                               [&] { OutputFile(directory / name, OutputFile::Links::refused); }),
              "cannot write \"" + (directory / name).string() + "\": it is a link");
  OutputFile file(directory / "real", OutputFile::Links::refused);
  file.write("after");
  // If a link has been made in the meantime, the link itself is replaced, and not the file that it
  // names.
  write_file(directory / "other", "another's");
  std::filesystem::remove(directory / "real");
  std::filesystem::create_symlink("other", directory / "real");
  file.commit();
  EXPECT_FALSE(std::filesystem::is_symlink(directory / "real"));
  EXPECT_EQ(file_content(directory / "real"), "after");
  EXPECT_EQ(file_content(directory / "other"), "another's");
}

struct stat status_of(const std::filesystem::path& path) {
  struct stat status = {};
  EXPECT_EQ(::stat(path.c_str(), &status), 0);
  return status;
}

// Only root may give a file to another owner. For any other user, the test's file keeps its owner.
TEST(OutputFile, GivesTheNewFileTheOwnerAndGroupOfTheOld) {
  TemporaryDirectory directory;
  const bool is_root = ::geteuid() == 0;
  const uid_t owner = is_root ? 12345 : ::geteuid();
  const gid_t group = is_root ? 54321 : ::getegid();
  write_file(directory / "out", "before");
  ASSERT_EQ(::chown((directory / "out").c_str(), owner, group), 0);
  ASSERT_EQ(::chmod((directory / "out").c_str(), 04640), 0);
  OutputFile file(directory / "out");
  file.write("after");
  file.commit();
  EXPECT_EQ(file_content(directory / "out"), "after");
  EXPECT_EQ(status_of(directory / "out").st_uid, owner);
  EXPECT_EQ(status_of(directory / "out").st_gid, group);
  EXPECT_EQ(status_of(directory / "out").st_mode & 07777, mode_t{04640});
}

TEST(OutputFile, ReplacesAFileOfAnotherOwnerWithoutTakingMoreThanItMay) {
  TemporaryDirectory directory;
  write_file(directory / "out", "before");
  ASSERT_EQ(::chmod(directory.path().c_str(), 0777), 0);
  ASSERT_EQ(::chmod((directory / "out").c_str(), 0676), 0);
  EXPECT_TRUE(testing::succeeds_as_other_user([&] {
    OutputFile file(directory / "out");
    file.write("after");
    file.commit();
    const struct stat status = status_of(directory / "out");
    return status.st_uid == ::geteuid() && status.st_gid == ::getegid();
  }));
  EXPECT_EQ(file_content(directory / "out"), "after");
  // If root runs the test, the new file has another group, whose rights are those of all others.
  const mode_t expected = ::geteuid() == 0 ? 0666 : 0676;
  EXPECT_EQ(status_of(directory / "out").st_mode & 07777, expected);
}

TEST(OutputFile, IsNamedInOneLineWhateverItIsCalled) {
  const std::string text = testing::refusal(
      Errc::io_error, [] { OutputFile("/nowhere/line\nfeed\x1b[1m/" + std::string(9000, 'x')); });
  EXPECT_EQ(text.find_first_of("\n\x1b"), text.npos);
  EXPECT_EQ(text.substr(0, 41), "cannot write \"/nowhere/line?feed?[1m/xxxx");
  EXPECT_LT(text.size(), 4200U);
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

TEST(OutputFile, ACommitThatFailedMayBeMadeAgain) {
  TemporaryDirectory directory;
  const std::string text = std::string(900, 'x') + std::string(1100, 'y');
  OutputFile file(directory / "out");
  file.write(text);
  {
    const FileSizeLimit limit(1000);
    EXPECT_THROW(file.commit(), Error);
  }
  file.commit();
  EXPECT_EQ(file_content(directory / "out"), text);
}

TEST(OutputFile, IsNeverKeptWithAGap) {
  TemporaryDirectory directory;
  write_file(directory / "out", "before");
  {
    OutputFile file(directory / "out");
    {
      const FileSizeLimit limit(1000);
      EXPECT_THROW(file.write(std::string(1 << 20, 'x')), Error);
    }
    for (const auto& call : std::vector<std::function<void()>>{
             [&] { file.write("more"); }, [&] { file.sync(); }, [&] { file.commit(); }})
      EXPECT_EQ(testing::refusal(Errc::io_error, call),
                "cannot write \"" + (directory / "out").string() +
                    "\": an earlier write to it has failed; write it again from the beginning");
  }
  EXPECT_EQ(file_content(directory / "out"), "before");
  EXPECT_EQ(directory.entries(), Names{"out"});
}

// Unwinding that meets a destructor or a function that throws nothing would end the process.
TEST(OutputFile, IsWholeOrNotThereIfItsThreadIsCancelled) {
  if (testing::address_sanitized) return;  // GCC 12's sanitizer does not survive the unwinding.
  for (const bool commits : {false, true}) {
    const TemporaryDirectory directory;
    const std::filesystem::path path = directory / "out";
    std::thread thread([&] {
      OutputFile file(path);
      file.write("text");
      ::pthread_cancel(::pthread_self());
      if (commits) file.commit();
    });
    thread.join();
    ASSERT_EQ(std::filesystem::exists(path), commits);
    EXPECT_EQ(commits ? file_content(path) : "text", "text");
  }
}

}  // namespace
}  // namespace penstock
