// fetch() gets files from servers. It prints nothing. A build without libcurl has another source
// for it, which refuses every file.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "apps/trainer/download/partial_file.hpp"

namespace trainer {

/// A FetchRequest says which file is wanted.
struct FetchRequest {
  std::string url;
  /// A file of the certificates (PEM) of the authorities that may vouch for the server, in place of
  /// those of the system.
  std::optional<std::string> authorities = {};
  std::uint64_t most_bytes = 0;  ///< A larger file is refused.
  /// This is called again and again with the number of bytes that have come, and of all bytes,
  /// which is 0 until it is known.
  std::function<void(std::uint64_t done, std::uint64_t total)> on_progress = {};
};

/// Appends to `file` what is missing of the file at `request.url`: if `file` has bytes already, the
/// rest is asked for, and if the server cannot give a part, the file begins anew. A connection that
/// breaks is made anew, up to 20 times, as long as each one brings bytes. Redirections lead from
/// https to https only.
/// @throws penstock::Error io_error if the file cannot be had, in which case `file` keeps what has
/// come; invalid_data if it is larger than `request.most_bytes`; unsupported without libcurl.
void fetch(const FetchRequest& request, PartialFile& file);

}  // namespace trainer
