#include "apps/trainer/output/run_files.hpp"

#include <algorithm>

#include "penstock/error.hpp"

namespace trainer {
namespace {

namespace fs = std::filesystem;

/// Returns the same path for all names of a file, whether or not the file exists.
fs::path location(const fs::path& file) {
  std::error_code error;
  const fs::path canonical = fs::weakly_canonical(fs::absolute(file, error), error);
  return error ? file : canonical;
}

bool same_file(const fs::path& a, const fs::path& b) {
  std::error_code neither_is_there;
  return location(a) == location(b) || fs::equivalent(a, b, neither_is_there);
}

/// Returns whether `file` is, or will be, a directory in which `other` lies.
bool contains(const fs::path& file, const fs::path& other) {
  const fs::path outer = location(file), inner = location(other);
  const auto [end, behind] = std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end());
  return end == outer.end() && behind != inner.end();
}

std::string text_of(const RunFile& file) {
  return file.option + " \"" + file.path.string() + '"';
}

bool is_folder(const fs::path& path) {
  std::error_code it_is_not_there;
  return fs::is_directory(path, it_is_not_there);
}

void refuse(const RunFile& output, const std::string& what) {
  throw penstock::Error(penstock::Errc::invalid_argument, text_of(output) + ": " + what);
}

bool may_replace(const RunFile& output, const RunFile& input) {
  return (output.option == "--save-weights" && input.option == "--init-weights") ||
         (output.option == "--save-optimizer-state" && input.option == "--init-optimizer-state");
}

void check_output(const RunFile& output, const RunFile& input) {
  if (!may_replace(output, input) && same_file(output.path, input.path))
    refuse(output, "would replace what the run reads, " + text_of(input));
  if (is_folder(input.path) && contains(input.path, output.path))
    refuse(output, "lies in a folder that the run reads, " + text_of(input));
}

void check_pair(const RunFile& a, const RunFile& b) {
  if (same_file(a.path, b.path))
    refuse(a, "is the same file as " + text_of(b) + ", and only one of them can be kept");
  if (contains(a.path, b.path)) refuse(a, "cannot be a directory too, of " + text_of(b));
}

}  // namespace

void check_distinct(std::span<const RunFile> outputs, std::span<const RunFile> inputs) {
  for (const RunFile& output : outputs) {
    for (const RunFile& input : inputs) check_output(output, input);
    for (const RunFile& other : outputs)
      if (&other != &output) check_pair(output, other);
  }
}

}  // namespace trainer
