// A PlanCache keeps compiled plans in a directory, a file each, for other processes and later runs.
// Files appear whole or not at all, so that any number of processes may share the directory. A plan
// that is damaged, cut (even to nothing), or of another build, is passed over and replaced. Links
// and other programs' files are left alone, whatever they are called: nothing is read or written
// through a link, and no file is replaced that holds anything else than the beginning of a plan. A
// thread makes a cache for one compilation.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace penstock {

class PlanCache {
 public:
  /// Makes a cache that keeps at most `limit` bytes in `directory`. @throws Error io_error if
  /// `directory` is missing and cannot be made, or is no directory.
  PlanCache(std::filesystem::path directory, std::int64_t limit);

  /// Returns the plan that is kept under `key`, or nothing if there is none or it is damaged. A
  /// plan that is read counts as used now.
  std::optional<std::string> read(std::string_view key) const;

  /// Keeps `content` under `key`. If the plans then exceed the limit, those that were not used for
  /// the longest time are removed. Files that killed processes left behind are removed, too. With a
  /// limit of 0 nothing is kept.
  /// @throws Error io_error, also if something else has the plan's name; invalid_argument if the
  /// content is larger than the limit; out_of_memory.
  void write(std::string_view key, std::string_view content) const;

 private:
  std::filesystem::path file_of(std::string_view key) const;
  void make_room() const;

  std::filesystem::path directory_;
  std::int64_t limit_;
};

}  // namespace penstock
