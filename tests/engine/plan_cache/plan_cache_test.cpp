#include "engine/plan_cache/plan_cache.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

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
  const PlanCache cache(directory / "a/b", plenty);  // made
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

// Keys whose hashes collide share a file: each sees only its own.
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

TEST(PlanCache, RemovesWhatWasUnusedForTheLongestTime) {
  const TemporaryDirectory directory;
  const std::string content(1000, 'x');
  const PlanCache cache(directory.path(), 3500);
  const auto now = fs::file_time_type::clock::now();
  std::chrono::minutes age{60};
  for (const char* key : {"a", "b", "c"}) {
    cache.write(key, content);
    // As if time had passed, for a file system's clock may be coarse.
    for (const std::string& name : directory.entries())
      if (fs::last_write_time(directory / name) > now - std::chrono::minutes(1))
        fs::last_write_time(directory / name, now - age);
    age -= std::chrono::minutes(10);
  }
  EXPECT_TRUE(cache.read("a"));  // used: "b" is the oldest now
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

// Other programs' plans have the suffix as well, and might have such a name.
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
  const fs::path left = directory / ".penstock-2000000000-0.tmp";  // no process has such a number
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
        const auto content = cache.read(key);  // or another writer has already made room
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
