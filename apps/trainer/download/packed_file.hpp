// These functions read downloaded files: their checksums, and the members of a tar archive. The
// files may be damaged or hostile.
#pragma once

#include <filesystem>
#include <string>

#include "apps/trainer/download/known_datasets.hpp"

namespace trainer {

/// Returns the SHA-256 of what `known` says, of the file at `path`: of its bytes, or of what it
/// holds if it is gzipped. Returns a text that says so if that is more or fewer than `known.bytes`
/// bytes, no more of which are read, or if the file is damaged.
/// @throws penstock::Error io_error if the file cannot be opened or read; std::bad_alloc.
std::string digest_of(const std::filesystem::path& path, const KnownFile& known);

/// Writes the members of `dataset` that the gzipped tar archive at `archive` has to files of these
/// names in `directory`, whatever the folder in the archive is called. The files appear when all of
/// them are on the disk. A file that is there already is left as it is.
/// @throws penstock::Error io_error if a file cannot be read or written; corrupt_file if the
/// archive is damaged, or if a member is not there or has another size; invalid_data if a file that
/// is there has another content than the member of its name; std::bad_alloc.
void unpack(const std::filesystem::path& archive, const KnownDataset& dataset,
            const std::filesystem::path& directory);

}  // namespace trainer
