// A KnownDataset is a published data set that penstock-train can download: where its files are, and
// what they hold.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/trainer/options/options.hpp"

namespace trainer {

/// A Digested says what the checksum of a file is computed of.
enum class Digested : std::uint8_t {
  file,      ///< The bytes of the file as it is served.
  unpacked,  ///< What a gzipped file holds, so that every mirror may have packed it in its own way.
};

struct KnownFile {
  std::string name;
  std::string sha256;
  Digested digested = Digested::unpacked;
  std::uint64_t bytes = 0;  ///< This many bytes are what the checksum is computed of.
};

struct KnownDataset {
  std::string name;
  std::string url;  ///< The address of a file is this text with the file's name behind it.
  std::vector<KnownFile> files;
  /// If `members` is not empty, the only file is a gzipped tar archive, and these of its members
  /// are what the data set consists of. Each has `member_bytes` bytes.
  std::vector<std::string> members = {};
  std::uint64_t member_bytes = 0;
};

/// Returns the data set of that name, which is `mnist`, `fashion_mnist` or `cifar10`.
/// @throws penstock::Error invalid_argument for another one.
const KnownDataset& known_dataset(DatasetName name);

}  // namespace trainer
