// A directory of checkpoints keeps the newest ones whatever happens, for one run at a time.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "penstock/checkpoint.hpp"
#include "penstock/error.hpp"
#include "tests/support/file_size_limit.hpp"
#include "tests/support/forked.hpp"
#include "tests/support/other_user.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/support/temporary_directory.hpp"

namespace penstock::testing {
namespace {

using Numbers = std::vector<std::uint64_t>;

Checkpoint number(std::uint64_t updates, std::size_t elements = 1) {
  const std::vector<float> values(elements, static_cast<float>(updates));
  return {.updates = updates,
          .weights = {{"w", Tensor({static_cast<std::int64_t>(elements)},
                                   std::span<const float>(values))}}};
}

std::string file_of(std::uint64_t updates) {
  const std::string digits = std::to_string(updates);
  return "checkpoint-" + std::string(12 - digits.size(), '0') + digits + ".safetensors";
}

void cut(const std::filesystem::path& file) {
  std::filesystem::resize_file(file, std::filesystem::file_size(file) - 1);
}

TEST(CheckpointDirectory, KeepsTheNewestCheckpoints) {
  const TemporaryDirectory parent;
  {
    CheckpointDirectory directory(parent / "new/dir", 2);
    EXPECT_FALSE(directory.newest().checkpoint);
    for (const std::uint64_t updates : {5, 10, 15, 100}) directory.save(number(updates));
    directory.wait();
    EXPECT_EQ(directory.numbers(), (Numbers{15, 100}));
    directory.save(number(110));
  }
  EXPECT_TRUE(std::filesystem::exists(parent / ("new/dir/" + file_of(110))))
      << "the destructor waits for the last one";
  const CheckpointDirectory again(parent / "new/dir", 2);
  const FoundCheckpoint newest = again.newest();
  ASSERT_TRUE(newest.checkpoint);
  EXPECT_EQ(newest.checkpoint->updates, 110U);
  EXPECT_EQ(std::filesystem::path(newest.path).filename(), file_of(110));
  EXPECT_TRUE(newest.skipped.empty());
}

TEST(CheckpointDirectory, PassesOverDamagedFilesAndSaysSo) {
  const TemporaryDirectory parent;
  CheckpointDirectory directory(parent.path(), 1);
  for (const std::uint64_t updates : {1, 2, 3})
    save_checkpoint(parent / file_of(updates), number(updates));
  cut(parent / file_of(3));
  write_file(parent / file_of(2), "");
  write_file(parent / "checkpoint-4.safetensors", "This name has too few digits.");
  const FoundCheckpoint newest = directory.newest();
  ASSERT_TRUE(newest.checkpoint);
  EXPECT_EQ(newest.checkpoint->updates, 1U);
  ASSERT_EQ(newest.skipped.size(), 2U);
  EXPECT_NE(newest.skipped[0].find(file_of(3)), std::string::npos) << newest.skipped[0];
  EXPECT_NE(newest.skipped[1].find(file_of(2)), std::string::npos) << newest.skipped[1];

  directory.save(number(2));
  directory.wait();
  EXPECT_EQ(directory.numbers(), (Numbers{2, 3})) << "the damaged newer file takes no place";
  EXPECT_EQ(directory.newest().checkpoint->updates, 2U);
}

TEST(CheckpointDirectory, RemovesWhatAKilledRunHasLeftBeforeItWritesMore) {
  const TemporaryDirectory parent;
  CheckpointDirectory directory(parent.path(), 2);
  for (const std::uint64_t updates : {1, 2, 3, 4})
    save_checkpoint(parent / file_of(updates), number(updates));
  EXPECT_EQ(directory.newest().checkpoint->updates, 4U);
  const FileSizeLimit limit(20'000);
  directory.save(number(5, 100'000));
  EXPECT_NE(refusal(Errc::io_error, [&] { directory.wait(); }), "accepted");
  EXPECT_EQ(directory.numbers(), (Numbers{3, 4}));
}

TEST(CheckpointDirectory, DoesNotCountDamagedFiles) {
  const TemporaryDirectory parent;
  CheckpointDirectory directory(parent.path(), 2);
  for (const std::uint64_t updates : {1, 2, 3})
    save_checkpoint(parent / file_of(updates), number(updates));
  cut(parent / file_of(3));
  EXPECT_EQ(directory.newest().checkpoint->updates, 2U);
  directory.save(number(4));
  directory.wait();
  EXPECT_EQ(directory.numbers(), (Numbers{2, 3, 4}));
  directory.save(number(5));
  directory.wait();
  EXPECT_EQ(directory.numbers(), (Numbers{4, 5}));
}

TEST(CheckpointDirectory, IsForOneRunAtATime) {
  const TemporaryDirectory parent;
  const std::string path = parent.path();
  {
    const CheckpointDirectory directory(path);
    EXPECT_EQ(refusal(Errc::busy, [&] { CheckpointDirectory second(path); }),
              "checkpoint directory \"" + path + "\": is in use by process " +
                  std::to_string(::getpid()) +
                  "; two runs cannot keep their checkpoints in one directory");
  }
  CheckpointDirectory third(path);
}

TEST(CheckpointDirectory, IsFreeAgainOnceItsProcessWasKilled) {
  const TemporaryDirectory parent;
  const pid_t other = forked();
  if (other == 0) {
    const CheckpointDirectory directory(parent.path());
    for (;;) ::pause();
  }
  const auto is_refused = [&] {
    try {
      CheckpointDirectory directory(parent.path());
    } catch (const Error& error) {
      return error.code() == Errc::busy;
    }
    return false;
  };
  while (!std::filesystem::exists(parent / ".penstock-lock") || !is_refused())
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  ::kill(other, SIGKILL);
  exit_code_of(other);
  EXPECT_FALSE(is_refused());
}

TEST(CheckpointDirectory, KeepsThePreviousCheckpointIfTheDiskIsFull) {
  const TemporaryDirectory parent;
  CheckpointDirectory directory(parent.path(), 1);
  directory.save(number(1));
  directory.wait();
  {
    const FileSizeLimit limit(20'000);
    directory.save(number(2, 100'000));
    const std::string text = refusal(Errc::io_error, [&] { directory.wait(); });
    EXPECT_NE(text.find(file_of(2)), std::string::npos) << text;
    directory.wait();  // The error is thrown once.
    directory.save(number(3, 100'000));
    EXPECT_NE(refusal(Errc::io_error, [&] { directory.save(number(4)); }), "accepted");
  }
  EXPECT_EQ(directory.numbers(), Numbers{1});
  EXPECT_EQ(parent.entries(), (std::set<std::string>{".penstock-lock", file_of(1)}));
  EXPECT_EQ(directory.newest().checkpoint->updates, 1U);
  directory.save(number(5, 100'000));
  directory.wait();
  EXPECT_EQ(directory.numbers(), Numbers{5});
}

TEST(CheckpointDirectory, IsRefusedIfItCannotBeWritten) {
  const TemporaryDirectory parent;
  ASSERT_EQ(::chmod(parent.path().c_str(), 0555), 0);
  EXPECT_TRUE(succeeds_as_other_user([&] {
    const std::string path = parent.path();
    return refusal(Errc::io_error, [&] { CheckpointDirectory directory(path); }) ==
               "checkpoint directory \"" + path +
                   "\": no file can be made in it: Permission denied" &&
           refusal(Errc::io_error, [&] { CheckpointDirectory directory(path + "/new"); }) ==
               "checkpoint directory \"" + path + "/new\": expected a directory: Permission denied";
  }));
  write_file(parent / "file", "");
  EXPECT_NE(refusal(Errc::io_error, [&] { CheckpointDirectory directory(parent / "file"); }),
            "accepted");
  EXPECT_EQ(
      refusal(Errc::invalid_argument, [&] { CheckpointDirectory directory(parent.path(), 0); }),
      "checkpoint directory: keep: expected 1 or more, got 0");
}

TEST(CheckpointDirectory, SaysThatItWasLost) {
  const TemporaryDirectory parent;
  const std::string path = parent / "dir";
  CheckpointDirectory directory(path);
  directory.save(number(1));
  directory.wait();
  std::filesystem::rename(path, parent / "moved");
  const std::string text = "checkpoint directory \"" + path +
                           "\": was removed or replaced while a run kept its checkpoints there";
  directory.save(number(2));
  EXPECT_EQ(refusal(Errc::io_error, [&] { directory.wait(); }), text);
  const CheckpointDirectory replaced(path);
  directory.save(number(3));
  EXPECT_EQ(refusal(Errc::io_error, [&] { directory.wait(); }), text);
  EXPECT_TRUE(replaced.numbers().empty());
  EXPECT_TRUE(std::filesystem::exists(parent / ("moved/" + file_of(1))));
}

TEST(CheckpointDirectory, IsClosedInAForkedProcess) {
  const TemporaryDirectory parent;
  auto directory = std::make_unique<CheckpointDirectory>(parent.path());
  directory->save(number(1, 1'000'000));
  // A child of a fork waits for ever for a lock of the sanitizer's allocator that the thread which
  // saves has held at that moment.
  if (sanitized) directory->wait();
  EXPECT_EQ(exit_code_of_fork([&] {
              const bool refused =
                  refusal(Errc::closed, [&] { directory->wait(); }) != "accepted" &&
                  refusal(Errc::closed, [&] { directory->save(number(2)); }) != "accepted";
              directory.reset();
              return refused ? 0 : 1;
            }),
            0);
  directory->wait();
  EXPECT_EQ(directory->numbers(), Numbers{1});
}

}  // namespace
}  // namespace penstock::testing
