#include "engine/plan_cache/plan_cache.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include "engine/files/input_file.hpp"
#include "engine/files/names_in.hpp"
#include "engine/files/replaceable.hpp"
#include "engine/files/temporary_file.hpp"
#include "graph/values/fnv.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"
#include "penstock/output_file.hpp"

namespace penstock {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view opening = "penstock plan, format 1\n";
constexpr std::string_view opening_of_any = "penstock plan, format ";
constexpr std::string_view plan_suffix = ".plan";
constexpr std::size_t name_digits = 16;
constexpr std::chrono::hours abandoned_after{1};

std::string hexadecimal(std::uint64_t number) {
  return penstock::hexadecimal(number, name_digits);
}

/// A Backwards is a text from its end to its beginning.
struct Backwards {
  std::string_view text;

  auto begin() const { return text.rbegin(); }
  auto end() const { return text.rend(); }
};

/// Returns two hashes of the key and the content together. The second one takes the bytes
/// backwards, so that a change that leaves one hash as it was shows in the other. Nothing is
/// copied, because plans are large.
std::string hashes(std::string_view key, std::string_view content) {
  const std::uint64_t start = graph::fnv_of_nothing;
  const std::uint64_t forwards = graph::fnv_on(graph::fnv_on(start, key), content);
  const std::uint64_t backwards =
      graph::fnv_on(graph::fnv_on(start, Backwards{content}), Backwards{key});
  return hexadecimal(forwards) + hexadecimal(backwards);
}

/// Returns the beginning of a plan's file. It has the opening (24 bytes), the two hashes, the size
/// of the key and the size of the content (16 digits each), and the end of a line.
std::string header(std::string_view key, std::string_view content) {
  return std::string(opening) + hashes(key, content) + hexadecimal(key.size()) +
         hexadecimal(content.size()) + "\n";
}

constexpr std::size_t header_bytes = opening.size() + 4 * name_digits + 1;

/// Returns the file's next bytes, or fewer if it ends.
std::string next_bytes(InputFile& file, std::size_t count) {
  std::string bytes(count, '\0');
  bytes.resize(file.read(std::as_writable_bytes(std::span(bytes))));
  return bytes;
}

/// Returns the content that the file has for `key`, or nothing if the file is damaged or has
/// another key. The file's size and key are checked before memory for the content is allocated.
std::optional<std::string> content_of(InputFile& file, std::string_view key) {
  if (file.bytes() < header_bytes + key.size()) return std::nullopt;
  const std::size_t size = file.bytes() - header_bytes - key.size();
  const std::string found = next_bytes(file, header_bytes);
  const std::string sizes = hexadecimal(key.size()) + hexadecimal(size) + "\n";
  if (!found.starts_with(opening) || !found.ends_with(sizes)) return std::nullopt;
  if (next_bytes(file, key.size()) != key) return std::nullopt;
  std::string content = next_bytes(file, size);
  if (found != header(key, content)) return std::nullopt;
  return content;
}

/// Opens a file, or returns nothing for links and whatever else cannot be read as a regular file.
std::optional<InputFile> open_entry(const fs::path& file) try {
  return std::optional<InputFile>(std::in_place, file, "a plan", InputFile::Links::refused);
} catch (const Error&) {
  return std::nullopt;
}

bool opens_as_a_plan(const fs::path& file) {
  auto entry = open_entry(file);
  return entry && next_bytes(*entry, opening_of_any.size()) == opening_of_any;
}

/// Returns whether the file is a plan, which may be damaged behind its opening, or has nothing but
/// a part of the opening of all plans. The latter is what is left of a plan that was cut, for
/// example by a file system when the power failed.
bool was_a_plan(InputFile& entry) {
  const bool is_short = entry.bytes() < opening_of_any.size();
  const std::string opening = next_bytes(entry, opening_of_any.size());
  return opening == opening_of_any || (is_short && opening_of_any.starts_with(opening));
}

/// Returns the status of `file`, which for a link is that of the link itself, or nothing if there
/// is no such file.
/// @throws Error io_error if the system does not say.
std::optional<struct stat> status_of(const fs::path& file) {
  struct stat status = {};
  if (::lstat(file.c_str(), &status) == 0) return status;
  if (errno == ENOENT) return std::nullopt;
  throw Error(Errc::io_error, '"' + printable(file.native()) +
                                  "\": expected a plan or no file, got " +
                                  std::generic_category().message(errno) + "; no plan is kept");
}

/// Checks that `file` is a plan, whole or not, or does not exist. Other processes may remove and
/// replace plans meanwhile: if a file cannot be opened and is no longer there, the check begins
/// again. @throws Error io_error if `file` is something else.
void expect_own(const fs::path& file) {
  std::string got, remedy;
  for (int attempt = 0; attempt < 100; ++attempt) {
    const auto status = status_of(file);
    if (!status) return;
    got = "something that is no plan";
    remedy = ": remove it";
    if (!S_ISREG(status->st_mode)) break;
    try {
      InputFile entry(file, "a file that cannot be read", InputFile::Links::refused);
      if (was_a_plan(entry)) return;
      break;
    } catch (const Error& error) {
      if (error.code() != Errc::io_error) throw;
      got = error.what();
      remedy.clear();
    }
    if (const auto now = status_of(file); now && same_file(*status, *now)) break;
  }
  throw Error(Errc::io_error, '"' + printable(file.native()) +
                                  "\": expected a plan or no file, got " + got +
                                  "; it is left alone, and no plan is kept" + remedy);
}

struct Kept {
  fs::path file;
  fs::file_time_type used;
  std::int64_t bytes;
};

/// Returns whether the file is a plan. The name alone does not tell, because other programs may use
/// such a name, too.
bool is_plan(const fs::path& directory, const std::string& name) {
  constexpr std::string_view digits = "0123456789abcdef";
  return name.size() == name_digits + plan_suffix.size() && name.ends_with(plan_suffix) &&
         name.find_first_not_of(digits) == name_digits && opens_as_a_plan(directory / name);
}

/// Returns the plans of a directory; files may vanish meanwhile.
std::vector<Kept> kept_in(const fs::path& directory) {
  std::vector<Kept> kept;
  for (const std::string& name : names_in(directory)) {
    if (!is_plan(directory, name)) continue;
    const fs::path file = directory / name;
    std::error_code vanished;
    const auto used = fs::last_write_time(file, vanished);
    const auto bytes = fs::file_size(file, vanished);
    if (!vanished) kept.push_back({file, used, static_cast<std::int64_t>(bytes)});
  }
  return kept;
}

}  // namespace

PlanCache::PlanCache(fs::path directory, std::int64_t limit)
    : directory_(std::move(directory)), limit_(limit) {
  std::error_code error, unknown;
  fs::create_directories(directory_, error);
  if (!fs::is_directory(directory_, unknown))
    throw Error(Errc::io_error, "\"" + printable(directory_.native()) +
                                    "\": expected a directory for plans" +
                                    (error ? ": " + error.message() : ""));
}

fs::path PlanCache::file_of(std::string_view key) const {
  return directory_ /
         (hexadecimal(graph::fnv_on(graph::fnv_of_nothing, key)) + std::string(plan_suffix));
}

std::optional<std::string> PlanCache::read(std::string_view key) const {
  std::optional<InputFile> file = open_entry(file_of(key));
  if (!file || std::cmp_greater(file->bytes(), limit_)) return std::nullopt;
  std::optional<std::string> content = content_of(*file, key);
  // The file's time says when the plan was used last. A failure is ignored, because a cache in a
  // directory that can only be read is of use, too.
  if (content) ::futimens(file->descriptor(), nullptr);
  return content;
}

void PlanCache::write(std::string_view key, std::string_view content) const {
  if (limit_ == 0) return;
  const std::size_t bytes = header_bytes + key.size() + content.size();
  if (std::cmp_greater(bytes, limit_))
    throw Error(Errc::invalid_argument, "options.runtime.cache_bytes: expected " +
                                            std::to_string(bytes) +
                                            " or more, what the plan takes, got " +
                                            std::to_string(limit_) + "; it is not kept");
  const fs::path target = file_of(key);
  OutputFile file(target, OutputFile::Links::refused);
  file.write(header(key, content));
  file.write(key);
  file.write(content);
  file.sync();
  expect_own(target);
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
