// download() gets the files of a published data set, checks them, and puts them into a directory.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "apps/trainer/download/fetch.hpp"
#include "apps/trainer/download/known_datasets.hpp"

namespace trainer {

struct Download {
  std::filesystem::path directory;
  std::string url;  ///< The address of a file is this text with the file's name behind it.
  std::optional<std::string> authorities = {};  ///< See FetchRequest::authorities.
  std::function<void(const FetchRequest&, PartialFile&)> fetch = trainer::fetch;
  /// This is called with a line, without its end, about each file that is there.
  std::function<void(const std::string&)> on_file = {};
  /// This is called with the name of a file while it comes; see FetchRequest::on_progress.
  std::function<void(const std::string& name, std::uint64_t done, std::uint64_t total)>
      on_progress = {};
};

/// Downloads the files of `dataset` that the directory does not have. A file appears when it is
/// whole, has the right checksum, and is on the disk. Until then it has ".penstock-part" behind its
/// name. What has come of a file stays if the download ends before, and the next one goes on from
/// there; the text of an io_error says so if something has come. A new directory in which nothing
/// stays is removed. The members of an archive have no checksums of their own: those that are in
/// the directory are taken for the right ones if all of them are there and have the right size;
/// otherwise they are compared with the archive.
/// @throws penstock::Error corrupt_file if a checksum is wrong, in which case nothing stays of what
/// has come of the file; invalid_data if the directory has a file of the same name with another
/// content, which is left alone, or if the file that comes is too large, of which nothing stays;
/// io_error and others as fetch(). The text names the file.
void download(const KnownDataset& dataset, const Download& download);

}  // namespace trainer
