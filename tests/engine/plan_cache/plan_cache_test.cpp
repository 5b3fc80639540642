#include "engine/plan_cache/plan_cache.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>
#include <vector>

#include "tests/support/allocation_counter.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/temporary_directory.hpp"

namespace penstock {
namespace {

namespace fs = std::filesystem;
using testing::file_content;
using testing::TemporaryDirectory;
using testing::write_file;

constexpr std::int64_t plenty = 1 << 20;

fs::path only_file(const TemporaryDirectory& directory) {
  const auto names = directory.entries();
  EXPECT_EQ(names.size(), 1u);
  return directory / *names.begin();
}

TEST(PlanCache, GivesBackWhatItKeeps) {
  const TemporaryDirectory directory;
  const PlanCache cache(directory / "a/b", plenty);  // The cache makes the directory.
  EXPECT_EQ(cache.read("key"), std::nullopt);
  cache.write("key", std::string("con\0tent", 8));
  EXPECT_EQ(cache.read("key"), std::string("con\0tent", 8));
  EXPECT_EQ(cache.read("another key"), std::nullopt);
  cache.write("key", "newer");
  EXPECT_EQ(PlanCache(directory / "a/b", plenty).read("key"), "newer");
}

TEST(PlanCache, PassesOverWhatIsDamagedAndReplacesIt) {
  const TemporaryDirectory directory;
  const PlanCache cache(directory.path(), plenty);
  cache.write("key", "content");
  const fs::path file = only_file(directory);
  const std::string whole = file_content(file);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    write_file(file, damaged);
    EXPECT_EQ(cache.read("key"), std::nullopt) << "byte " << at;
    write_file(file, whole.substr(0, at));
    EXPECT_EQ(cache.read("key"), std::nullopt) << at << " bytes";
  }
  write_file(file, whole + " ");
  EXPECT_EQ(cache.read("key"), std::nullopt);
  cache.write("key", "content");
  EXPECT_EQ(cache.read("key"), "content");
}

TEST(PlanCache, HasADamagedPlanInMemoryOnce) {
  constexpr std::int64_t size = 4 << 20;
  const TemporaryDirectory directory;
  const PlanCache cache(directory.path(), 2 * size);
  cache.write("key", std::string(size, 'p'));
  const fs::path file = only_file(directory);
  std::string damaged = file_content(file);
  damaged.back() = 'q';
  write_file(file, damaged);
  const std::uint64_t before = testing::heap_bytes();
  EXPECT_EQ(cache.read("key"), std::nullopt);
  EXPECT_GE(testing::heap_bytes() - before, std::uint64_t{size});
  EXPECT_LT(testing::heap_bytes() - before, std::uint64_t{size + size / 4});
}

TEST(PlanCache, ReplacesAPlanWhereverItWasCut) {
  const TemporaryDirectory directory;
  const PlanCache cache(directory.path(), plenty);
  cache.write("key", "content");
  const fs::path file = only_file(directory);
  const std::string whole = file_content(file);
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
    write_file(file, whole.substr(0, bytes));
    EXPECT_EQ(testing::refusal(Errc::io_error, [&] { cache.write("key", "content"); }), "accepted")
        << bytes << " bytes";
    EXPECT_EQ(cache.read("key"), "content") << bytes << " bytes";
  }
}

// Keys with the same hash share a file. Each key sees only its own plan.
TEST(PlanCache, PassesOverWhatBelongsToAnotherKey) {
  const TemporaryDirectory directory;
  const PlanCache cache(directory.path(), plenty);
  cache.write("one", "content");
  const fs::path of_one = only_file(directory);
  cache.write("two", "content");
  for (const std::string& name : directory.entries())
    if (directory / name != of_one)
      fs::copy_file(of_one, directory / name, fs::copy_options::overwrite_existing);
  EXPECT_EQ(cache.read("two"), std::nullopt);
  EXPECT_EQ(cache.read("one"), "content");
}

/// Writes a plan, removes its file, and returns the file's path.
fs::path removed_plan(const TemporaryDirectory& directory, const PlanCache& cache) {
  cache.write("key", "content");
  const fs::path file = only_file(directory);
  fs::remove(file);
  return file;
}

TEST(PlanCache, NeitherReadsNorWritesThroughALink) {
  const TemporaryDirectory directory, elsewhere;
  const PlanCache cache(directory.path(), plenty);
  cache.write("key", "content");
  const fs::path file = only_file(directory), target = elsewhere / "target";
  fs::copy_file(file, target);
  const std::string before = file_content(target);
  const auto used = fs::file_time_type::clock::now() - std::chrono::hours(5);
  fs::last_write_time(target, used);
  for (const fs::path& linked : {target, elsewhere / "nothing"}) {
    fs::remove(file);
    fs::create_symlink(linked, file);
    EXPECT_EQ(cache.read("key"), std::nullopt);
    EXPECT_EQ(testing::refusal(Errc::io_error, [&] { cache.write("key", "other"); }),
              "cannot write \"" + file.string() + "\": it is a link");
    EXPECT_TRUE(fs::is_symlink(file));
  }
  EXPECT_EQ(file_content(target), before);
  EXPECT_LT(fs::last_write_time(target) - used, std::chrono::minutes(1)) << "it was not used";
  EXPECT_EQ(elsewhere.entries(), std::set<std::string>{"target"});
  fs::remove(file);
  cache.write("key", "content");
  EXPECT_EQ(cache.read("key"), "content");
}

/// While a OneFileLeft lives, this process can open only one file more than it has opened already.
class OneFileLeft {
 public:
  OneFileLeft() {
    const int lowest_free = ::dup(STDERR_FILENO);
    ::close(lowest_free);
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit limit{static_cast<rlim_t>(lowest_free) + 1, before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &limit);
  }
  ~OneFileLeft() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  OneFileLeft(const OneFileLeft&) = delete;
  OneFileLeft& operator=(const OneFileLeft&) = delete;

 private:
  rlimit before_ = {};
};

TEST(PlanCache, SaysWhyItCannotReadWhatItWouldReplace) {
  TemporaryDirectory directory;
  const PlanCache cache(directory / "plans", 1 << 20);
  cache.write("key", "content");
  const std::string text = testing::refusal(Errc::io_error, [&] {
    // The one file is for the new plan, so that the old plan cannot be opened.
    const OneFileLeft left;
    cache.write("key", "newer content");
  });
  EXPECT_NE(text.find("got a file that cannot be read: Too many open files; it is left alone"),
            std::string::npos)
      << text;
  EXPECT_EQ(cache.read("key"), "content");
}

TEST(PlanCache, ReplacesNoFileThatIsNoPlan) {
  const TemporaryDirectory directory;
  const PlanCache cache(directory.path(), plenty);
  const fs::path file = removed_plan(directory, cache);
  for (const std::string& foreign :
       {std::string("\n"), std::string("a diary"), std::string("penstock plans"),
        "another's " + std::string(500, 'x')}) {
    write_file(file, foreign);
    EXPECT_EQ(cache.read("key"), std::nullopt);
    EXPECT_EQ(testing::refusal(Errc::io_error, [&] { cache.write("key", "content"); }),
              "\"" + file.string() +
                  "\": expected a plan or no file, got something that is no plan; it is left "
                  "alone, and no plan is kept: remove it");
    EXPECT_EQ(file_content(file), foreign);
  }
  // A later build has written this plan, which is replaced.
  write_file(file, "penstock plan, format 2\n");
  cache.write("key", "content");
  EXPECT_EQ(cache.read("key"), "content");
}

TEST(PlanCache, ReplacesNoPipeOrDirectory) {
  const TemporaryDirectory directory;
  const PlanCache cache(directory.path(), plenty);
  const fs::path file = removed_plan(directory, cache);
  ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
  EXPECT_EQ(cache.read("key"), std::nullopt);
  EXPECT_NE(testing::refusal(Errc::io_error, [&] { cache.write("key", "content"); }), "accepted");
  EXPECT_TRUE(fs::is_fifo(file));
  fs::remove(file);
  fs::create_directory(file);
  EXPECT_EQ(cache.read("key"), std::nullopt);
  EXPECT_NE(testing::refusal(Errc::io_error, [&] { cache.write("key", "content"); }), "accepted");
  EXPECT_TRUE(fs::is_directory(file));
}

// The file has a terabyte, which is more than the machine's memory.
TEST(PlanCache, MakesNoRoomForAFileThatIsNotThePlan) {
  constexpr std::uintmax_t large = std::uintmax_t{1} << 40;
  const TemporaryDirectory directory;
  const PlanCache cache(directory.path(), std::int64_t{1} << 50);
  cache.write("key", "content");
  const fs::path file = only_file(directory);
  const std::string whole = file_content(file);
  fs::resize_file(file, large);
  EXPECT_EQ(cache.read("key"), std::nullopt) << "sizes that disagree";
  write_file(file, std::string());
  fs::resize_file(file, large);
  EXPECT_EQ(cache.read("key"), std::nullopt) << "a hole";
  const auto sizes_at = whole.find('\n') + 1 + 32;
  std::string other = whole;
  constexpr std::uintmax_t content = large - 89 - 3;
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(content));
  other.replace(sizes_at + 16, 16, digits);
  other.replace(89, 3, "kez");
  write_file(file, other);
  fs::resize_file(file, large);
  EXPECT_EQ(cache.read("key"), std::nullopt) << "another key";
}

TEST(PlanCache, RemovesWhatWasUnusedForTheLongestTime) {
  const TemporaryDirectory directory;
  const std::string content(1000, 'x');
  const PlanCache cache(directory.path(), 3500);
  const auto now = fs::file_time_type::clock::now();
  std::chrono::minutes age{60};
  for (const char* key : {"a", "b", "c"}) {
    cache.write(key, content);
    // The files are made older, because a file system's clock may be coarse.
    for (const std::string& name : directory.entries())
      if (fs::last_write_time(directory / name) > now - std::chrono::minutes(1))
        fs::last_write_time(directory / name, now - age);
    age -= std::chrono::minutes(10);
  }
  EXPECT_TRUE(cache.read("a"));  // Plan "a" was used now, so that "b" is the oldest.
  cache.write("d", content);
  EXPECT_TRUE(cache.read("a"));
  EXPECT_FALSE(cache.read("b"));
  EXPECT_TRUE(cache.read("c"));
  EXPECT_TRUE(cache.read("d"));
}

TEST(PlanCache, LeavesAloneWhatIsNotItsOwnAndKeepsNothingBeyondItsLimit) {
  const TemporaryDirectory directory;
  write_file(directory / "notes.txt", std::string(5000, 'n'));
  const PlanCache cache(directory.path(), 3000);
  EXPECT_EQ(
      testing::refusal(Errc::invalid_argument, [&] { cache.write("key", std::string(4000, 'x')); }),
      "options.runtime.cache_bytes: expected 4092 or more, what the plan takes, got 3000; it is "
      "not kept");
  EXPECT_EQ(cache.read("key"), std::nullopt);
  PlanCache(directory.path(), 0).write("key", "content");
  EXPECT_EQ(cache.read("key"), std::nullopt);
  cache.write("key", std::string(1000, 'x'));
  EXPECT_TRUE(cache.read("key"));
  EXPECT_EQ(file_content(directory / "notes.txt").size(), 5000u);
}

// Plans of other programs have the same suffix, and might have a name like this one.
TEST(PlanCache, NeitherCountsNorRemovesOtherPlans) {
  const TemporaryDirectory directory;
  const std::string large(5000, 'n');
  const fs::path others[] = {directory / "resnet50.plan", directory / "0123456789abcdef.plan",
                             directory / "0123456789abcdef.plan.bak"};
  for (const fs::path& other : others) {
    write_file(other, large);
    fs::last_write_time(other, fs::file_time_type::clock::now() - std::chrono::hours(48));
  }
  fs::create_directory(directory / "fedcba9876543210.plan");
  const PlanCache cache(directory.path(), 3000);
  cache.write("a", std::string(1000, 'x'));
  cache.write("b", std::string(1000, 'x'));
  EXPECT_TRUE(cache.read("a"));
  EXPECT_TRUE(cache.read("b"));
  for (const fs::path& other : others) EXPECT_EQ(file_content(other), large) << other;
  EXPECT_TRUE(fs::is_directory(directory / "fedcba9876543210.plan"));
}

TEST(PlanCache, RemovesWhatKilledProcessesLeftUnfinished) {
  const TemporaryDirectory directory;
  const fs::path left = directory / ".penstock-2000000000-0.tmp";  // No process has this number.
  write_file(left, "x");
  const PlanCache cache(directory.path(), plenty);
  cache.write("key", "content");
  EXPECT_TRUE(fs::exists(left)) << "somebody elsewhere may be writing it";
  fs::last_write_time(left, fs::file_time_type::clock::now() - std::chrono::minutes(61));
  cache.write("key", "content");
  EXPECT_FALSE(fs::exists(left));
}

TEST(PlanCache, LetsTheUserSayWhoMayReadIt) {
  const TemporaryDirectory directory;
  const mode_t before = ::umask(077);
  PlanCache(directory.path(), plenty).write("key", "content");
  ::umask(before);
  EXPECT_EQ(fs::status(only_file(directory)).permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
}

TEST(PlanCache, IsSharedByAnyNumberOfWritersAndReaders) {
  constexpr int writers = 4, writes = 50, limit = 5000;
  const TemporaryDirectory directory;
  std::atomic<int> found = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < writers; ++t)
    threads.emplace_back([&, t] {
      const PlanCache cache(directory.path(), limit);
      for (int i = 0; i < writes; ++i) {
        const std::string key = std::to_string((i + t) % 7);
        cache.write(key, std::string(1000, key[0]));
        // There is no content if another writer has made room already.
        const auto content = cache.read(key);
        if (!content) continue;
        EXPECT_EQ(*content, std::string(1000, key[0]));
        ++found;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(found, 0);
  std::uintmax_t bytes = 0;
  for (const std::string& name : directory.entries()) bytes += fs::file_size(directory / name);
  EXPECT_LE(bytes, std::uintmax_t{limit});
}

TEST(PlanCache, SaysWhatIsInTheWayOfItsDirectory) {
  const TemporaryDirectory directory;
  write_file(directory / "file", "");
  EXPECT_EQ(
      testing::refusal(Errc::io_error, [&] { PlanCache(directory / "file", plenty); }),
      "\"" + (directory / "file").string() + "\": expected a directory for plans: Not a directory");
  const auto text_of = [](const fs::path& path) {
    return testing::refusal(Errc::io_error, [&] { PlanCache(path, plenty); });
  };
  const fs::path long_name = directory / std::string(300, 'n');
  EXPECT_EQ(text_of(long_name),
            "\"" + long_name.string() + "\": expected a directory for plans: File name too long");
  fs::create_symlink("loop", directory / "loop");
  EXPECT_NE(text_of(directory / "loop").find("expected a directory for plans: "),
            std::string::npos);
}

}  // namespace
}  // namespace penstock
