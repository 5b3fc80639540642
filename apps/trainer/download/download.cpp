#include "apps/trainer/download/download.hpp"

#include "apps/trainer/download/packed_file.hpp"
#include "penstock/error.hpp"

namespace trainer {
namespace {

namespace fs = std::filesystem;
using penstock::Errc;
using penstock::Error;

const std::string kept_text = "; what has come is kept, and the same command goes on from there";

/// A gzipped file is not much larger than what it holds.
std::uint64_t most_bytes_of(const KnownFile& file) {
  return file.digested == Digested::file ? file.bytes : file.bytes + file.bytes / 100 + 1024;
}

/// Returns the paths at which readers of data sets look for the file, one after the other.
std::vector<fs::path> places_of(const KnownFile& file, const fs::path& directory) {
  const fs::path named = directory / file.name;
  if (named.extension() != ".gz") return {named};
  return {fs::path(named).replace_extension(), named};
}

bool has_size(const fs::path& path, std::uint64_t bytes) {
  std::error_code it_is_not_there;
  return fs::file_size(path, it_is_not_there) == bytes && !it_is_not_there;
}

[[noreturn]] void refuse_to_replace(const fs::path& path) {
  throw Error(Errc::invalid_data, path.string() +
                                      ": is not the file of that name that was to be downloaded; "
                                      "remove it, or name another --data-dir");
}

/// Returns whether the directory has an entry of that name, be it a link that leads nowhere.
bool is_something_at(const fs::path& path) {
  std::error_code it_cannot_be_seen;
  return fs::exists(fs::symlink_status(path, it_cannot_be_seen));
}

/// Returns whether a file is at `path`. What else may be there, such as a pipe, might never end.
bool is_file_at(const fs::path& path) {
  std::error_code it_cannot_be_seen;
  return fs::is_regular_file(path, it_cannot_be_seen);
}

/// Returns the path at which readers find the file, gzipped or plain, or nothing if it is not in
/// the directory. @throws Error invalid_data if another file is there.
std::optional<fs::path> found(const KnownFile& file, const fs::path& directory) {
  std::optional<fs::path> first;
  for (const fs::path& path : places_of(file, directory)) {
    if (!is_something_at(path)) continue;
    if (!is_file_at(path) || digest_of(path, file) != file.sha256) refuse_to_replace(path);
    if (!first) first = path;
  }
  return first;
}

/// Returns whether the directory has all members of the archive's data set, as far as their sizes
/// say. @throws Error invalid_data if it has one of another size.
bool are_members_there(const KnownDataset& dataset, const fs::path& directory) {
  bool are_there = true;
  for (const std::string& name : dataset.members) {
    const fs::path path = directory / name;
    if (!is_something_at(path))
      are_there = false;
    else if (!has_size(path, dataset.member_bytes))
      refuse_to_replace(path);
  }
  return are_there;
}

/// Gets what is missing of `file`, and checks it.
void complete(const KnownFile& known, const Download& download, PartialFile& file) {
  const std::string url = download.url + known.name;
  FetchRequest request{
      .url = url, .authorities = download.authorities, .most_bytes = most_bytes_of(known)};
  if (download.on_progress)
    request.on_progress = [&](std::uint64_t done, std::uint64_t total) {
      download.on_progress(known.name, done, total);
    };
  // A run that was killed at the end may have left a whole file.
  if (file.bytes() > 0 && digest_of(file.path(), known) == known.sha256) return;
  if (file.bytes() > request.most_bytes) file.clear();
  try {
    download.fetch(request, file);
  } catch (const Error& error) {
    if (error.code() == Errc::invalid_data) file.remove();
    throw;
  }
  const std::string digest = digest_of(file.path(), known);
  if (digest == known.sha256) return;
  file.remove();
  throw Error(Errc::corrupt_file,
              url + ": expected " +
                  (known.digested == Digested::file ? "a file" : "a gzipped file of a content") +
                  " with the SHA-256 " + known.sha256 + ", got " + digest + "; it was removed");
}

/// Calls `action`, which makes `file` complete and uses it. The text of an io_error says what
/// stays.
void keeping(const PartialFile& file, const auto& action) try {
  action();
} catch (const Error& error) {
  if (error.code() != Errc::io_error || file.bytes() == 0) throw;
  throw Error(Errc::io_error, error.what() + kept_text);
}

void download_file(const KnownFile& known, const Download& download) {
  const fs::path path = download.directory / known.name;
  if (const auto there = found(known, download.directory)) {
    PartialFile::discard(path);
    return download.on_file(there->string() + " is there already");
  }
  PartialFile file(path);
  keeping(file, [&] {
    complete(known, download, file);
    file.put_in_place();
  });
  download.on_file(path.string());
}

void download_archive(const KnownDataset& dataset, const Download& download) {
  const auto path_of = [&](const std::string& name) { return download.directory / name; };
  const KnownFile& archive = dataset.files.front();
  const bool are_there = are_members_there(dataset, download.directory);
  if (are_there) {
    // A run that was killed after it had unpacked the archive has left it.
    PartialFile::discard(path_of(archive.name));
  } else {
    PartialFile file(path_of(archive.name));
    keeping(file, [&] {
      complete(archive, download, file);
      unpack(file.path(), dataset, download.directory);
    });
    file.remove();
  }
  for (const std::string& name : dataset.members)
    download.on_file(path_of(name).string() + (are_there ? " is there already" : ""));
}

}  // namespace

void download(const KnownDataset& dataset, const Download& download) {
  if (!dataset.members.empty()) return download_archive(dataset, download);
  for (const KnownFile& file : dataset.files) download_file(file, download);
}

}  // namespace trainer
