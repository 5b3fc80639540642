#include "engine/plan_cache/plan_cache.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>
#include <vector>

#include "engine/files/temporary_file.hpp"
#include "graph/random.hpp"
#include "penstock/error.hpp"
#include "penstock/output_file.hpp"

namespace penstock {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view opening = "penstock plan, format 1\n";
constexpr std::string_view opening_of_any = "penstock plan, format ";
constexpr std::string_view suffix = ".plan";
constexpr std::size_t name_digits = 16;
constexpr std::chrono::hours abandoned_after{1};

std::string hexadecimal(std::uint64_t number) {
  std::array<char, name_digits> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number, 16).ptr;
  const std::string_view text(digits.data(), static_cast<std::size_t>(end - digits.data()));
  return std::string(digits.size() - text.size(), '0') + std::string(text);
}

/// The opening, hashes of what follows, and how long the key is: 24 + 4 x 16 bytes and a line's
/// end. Two hashes, the second of the bytes backwards: a change that deceives one shows in the
/// other.
std::string header(std::string_view key, std::string_view content) {
  const std::string body = std::string(key) + std::string(content);
  return std::string(opening) + hexadecimal(graph::hash_name(body)) +
         hexadecimal(graph::hash_name(std::string(body.rbegin(), body.rend()))) +
         hexadecimal(key.size()) + hexadecimal(content.size()) + "\n";
}

std::optional<std::string> bytes_of(const fs::path& file, std::int64_t limit) {
  std::error_code error;
  if (!fs::is_regular_file(file, error) || fs::file_size(file, error) > std::uint64_t(limit) ||
      error)
    return std::nullopt;
  std::ifstream stream(file, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(stream), {}};
  if (stream.bad()) return std::nullopt;
  return bytes;
}

struct Kept {
  fs::path file;
  fs::file_time_type used;
  std::int64_t bytes;
};

/// Other programs call their plans so as well.
bool is_plan(const fs::directory_entry& entry) {
  constexpr std::string_view digits = "0123456789abcdef";
  const std::string name = entry.path().filename().string();
  std::error_code error;
  if (name.size() != name_digits + suffix.size() || !name.ends_with(suffix) ||
      name.find_first_not_of(digits) != name_digits ||
      entry.symlink_status(error).type() != fs::file_type::regular)
    return false;
  std::string begin(opening_of_any.size(), '\0');
  std::ifstream(entry.path(), std::ios::binary)
      .read(begin.data(), static_cast<std::streamsize>(begin.size()));
  return begin == opening_of_any;
}

/// The plans of a directory; files may vanish meanwhile.
std::vector<Kept> kept_in(const fs::path& directory) {
  std::vector<Kept> kept;
  std::error_code error;
  for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error)) {
    if (!is_plan(*at)) continue;
    std::error_code vanished;
    const auto used = fs::last_write_time(at->path(), vanished);
    const auto bytes = fs::file_size(at->path(), vanished);
    if (!vanished) kept.push_back({at->path(), used, static_cast<std::int64_t>(bytes)});
  }
  return kept;
}

}  // namespace

PlanCache::PlanCache(fs::path directory, std::int64_t limit)
    : directory_(std::move(directory)), limit_(limit) {
  std::error_code error, unknown;
  fs::create_directories(directory_, error);
  if (!fs::is_directory(directory_, unknown))
    throw Error(Errc::io_error, "\"" + directory_.string() + "\": expected a directory for plans" +
                                    (error ? ": " + error.message() : ""));
}

fs::path PlanCache::file_of(std::string_view key) const {
  return directory_ / (hexadecimal(graph::hash_name(key)) + std::string(suffix));
}

std::optional<std::string> PlanCache::read(std::string_view key) const {
  const fs::path file = file_of(key);
  const std::optional<std::string> bytes = bytes_of(file, limit_);
  const std::size_t body = header(key, "").size();
  if (!bytes || bytes->size() < body + key.size()) return std::nullopt;
  std::string content = bytes->substr(body + key.size());
  if (*bytes != header(key, content) + std::string(key) + content) return std::nullopt;
  std::error_code ignored;  // a directory that can only be read is of use as well
  fs::last_write_time(file, fs::file_time_type::clock::now(), ignored);
  return content;
}

void PlanCache::write(std::string_view key, std::string_view content) const {
  if (limit_ == 0) return;
  const std::string opened = header(key, content);
  const std::size_t bytes = opened.size() + key.size() + content.size();
  if (std::cmp_greater(bytes, limit_))
    throw Error(Errc::invalid_argument, "options.runtime.cache_bytes: expected " +
                                            std::to_string(bytes) +
                                            " or more, what the plan takes, got " +
                                            std::to_string(limit_) + "; it is not kept");
  OutputFile file(file_of(key));
  file.write(opened);
  file.write(key);
  file.write(content);
  file.commit();
  make_room();
}

void PlanCache::make_room() const {
  TemporaryFile::remove_abandoned(directory_, abandoned_after);
  std::vector<Kept> kept = kept_in(directory_);
  std::ranges::sort(kept, std::greater<>(), &Kept::used);
  std::int64_t bytes = 0;
  for (const Kept& each : kept) {
    bytes += each.bytes;
    std::error_code vanished;
    if (bytes > limit_) fs::remove(each.file, vanished);
  }
}

}  // namespace penstock
