#include "engine/datasets/file_bytes.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <limits>
#include <new>

#include "graph/values/text.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

constexpr std::size_t read_bytes = 64 << 10;
// A byte of a deflate stream inflates to at most 1032 bytes: a match, which has up to 258 bytes,
// takes at least one bit for its length and one for its distance.
constexpr std::uint64_t most_inflation = 1032;

}  // namespace

std::optional<std::string> find_file(const std::string& directory, const std::string& name) {
  const std::string path = (std::filesystem::path(directory) / name).string();
  for (const std::string& candidate : {path, path + ".gz"}) {
    std::error_code error;
    const auto status = std::filesystem::status(candidate, error);
    if (std::filesystem::exists(status)) return candidate;
    if (status.type() != std::filesystem::file_type::not_found)
      throw Error(Errc::io_error, printable(candidate) + ": " + error.message());
  }
  return std::nullopt;
}

std::string expect_file(const std::string& directory, const std::string& name,
                        const std::string& what) {
  if (auto path = find_file(directory, name)) return *path;
  throw Error(Errc::io_error, printable((std::filesystem::path(directory) / name).string()) +
                                  "[.gz]: expected " + what + ", there is none");
}

FileBytes::FileBytes(const std::string& path)
    : path_(printable(path)), file_(path, path_), buffer_(read_bytes) {
  refill();
  gzipped_ = zlib_.avail_in >= 2 && buffer_[0] == 0x1f && buffer_[1] == 0x8b;
  constexpr int gzip_only = 16;
  if (gzipped_ && inflateInit2(&zlib_, MAX_WBITS + gzip_only) != Z_OK) throw std::bad_alloc();
}

FileBytes::~FileBytes() {
  if (gzipped_) inflateEnd(&zlib_);
}

std::uint64_t FileBytes::most_bytes() const noexcept {
  if (!gzipped_) return file_.bytes();
  const bool overflows = file_.bytes() > std::numeric_limits<std::uint64_t>::max() / most_inflation;
  return overflows ? std::numeric_limits<std::uint64_t>::max() : file_.bytes() * most_inflation;
}

void FileBytes::refill() {
  const std::size_t got = file_.read(std::as_writable_bytes(std::span(buffer_)));
  zlib_.next_in = buffer_.data();
  zlib_.avail_in = static_cast<uInt>(got);
}

std::size_t FileBytes::read(std::span<std::uint8_t> destination) {
  if (!gzipped_) return copy(destination);
  std::size_t done = 0;
  while (done < destination.size() && !ended_) {
    const std::size_t wanted =
        std::min<std::size_t>(destination.size() - done, std::numeric_limits<uInt>::max());
    zlib_.next_out = destination.data() + done;
    zlib_.avail_out = static_cast<uInt>(wanted);
    inflate_some();
    done += wanted - zlib_.avail_out;
  }
  return done;
}

std::size_t FileBytes::copy(std::span<std::uint8_t> destination) {
  std::size_t done = 0;
  while (done < destination.size()) {
    if (zlib_.avail_in == 0) refill();
    const std::size_t count = std::min<std::size_t>(destination.size() - done, zlib_.avail_in);
    if (count == 0) break;
    std::memcpy(destination.data() + done, zlib_.next_in, count);
    zlib_.next_in += count;
    zlib_.avail_in -= static_cast<uInt>(count);
    done += count;
  }
  return done;
}

void FileBytes::inflate_some() {
  if (zlib_.avail_in == 0) refill();
  if (zlib_.avail_in == 0) refuse("truncated: the gzip stream breaks off");
  const int result = inflate(&zlib_, Z_NO_FLUSH);
  if (result == Z_MEM_ERROR) throw std::bad_alloc();
  if (result == Z_STREAM_END) return end_member();
  if (result != Z_OK && result != Z_BUF_ERROR)
    refuse("corrupt gzip stream" + (zlib_.msg ? std::string(": ") + zlib_.msg : ""));
}

void FileBytes::end_member() {
  // A gzip file may have several members, one after the other. Bytes behind a member that are no
  // further member are damage, which inflate() reports.
  if (zlib_.avail_in == 0) refill();
  ended_ = zlib_.avail_in == 0;
  if (!ended_) inflateReset(&zlib_);
}

void FileBytes::refuse(const std::string& text) const {
  throw Error(Errc::corrupt_file, path_ + ": " + text);
}

}  // namespace penstock
