#include "apps/trainer/download/packed_file.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <memory>
#include <new>
#include <vector>

#include "apps/trainer/download/sha256.hpp"
#include "penstock/error.hpp"
#include "penstock/output_file.hpp"

namespace trainer {
namespace {

namespace fs = std::filesystem;
using penstock::Errc;
using penstock::Error;

constexpr std::size_t buffer_bytes = std::size_t{1} << 16;
constexpr std::size_t tar_block_bytes = 512;
// The archive of CIFAR-10 has nine entries.
constexpr int most_entries = 1000;

/// A PlainReader reads the bytes of a file from front to back.
class PlainReader {
 public:
  explicit PlainReader(const fs::path& path)
      : path_(path), descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (descriptor_ < 0) throw Error(Errc::io_error, path.string() + ": cannot be opened");
  }
  ~PlainReader() { ::close(descriptor_); }
  PlainReader(const PlainReader&) = delete;
  PlainReader& operator=(const PlainReader&) = delete;

  std::size_t read(std::span<std::byte> bytes) {
    const ssize_t count = ::read(descriptor_, bytes.data(), bytes.size());
    if (count < 0) throw Error(Errc::io_error, path_.string() + ": cannot be read");
    return static_cast<std::size_t>(count);
  }

 private:
  fs::path path_;
  int descriptor_;
};

/// A PackedReader reads a file from front to back, unpacked if it is gzipped: if it is one gzip
/// stream, or several behind each other, and nothing else.
class PackedReader {
 public:
  explicit PackedReader(const fs::path& path) : path_(path), file_(path), packed_(buffer_bytes) {
    fill();
    is_gzipped_ = stream_.avail_in >= 2 && stream_.next_in[0] == 0x1f && stream_.next_in[1] == 0x8b;
    constexpr int gzip_window = MAX_WBITS + 16;
    if (inflateInit2(&stream_, gzip_window) != Z_OK) throw std::bad_alloc();
  }
  ~PackedReader() { inflateEnd(&stream_); }
  PackedReader(const PackedReader&) = delete;
  PackedReader& operator=(const PackedReader&) = delete;

  /// Reads up to `bytes.size()` bytes, fewer only at the end, and returns how many.
  /// @throws Error corrupt_file; io_error; std::bad_alloc.
  std::size_t read(std::span<std::byte> bytes) {
    stream_.next_out = reinterpret_cast<Bytef*>(bytes.data());
    stream_.avail_out = static_cast<uInt>(bytes.size());
    while (stream_.avail_out > 0) {
      if (stream_.avail_in == 0 && !fill()) {
        if (in_stream_) refuse("it is cut short");
        break;
      }
      if (is_gzipped_)
        unpack_some();
      else
        copy_some();
    }
    return bytes.size() - stream_.avail_out;
  }

  [[noreturn]] void refuse(const std::string& text) const {
    throw Error(Errc::corrupt_file, path_.string() + ": " + text);
  }

 private:
  /// Reads on in the file. Returns false at its end.
  bool fill() {
    const std::size_t count = file_.read(packed_);
    stream_.next_in = reinterpret_cast<Bytef*>(packed_.data());
    stream_.avail_in = static_cast<uInt>(count);
    return count > 0;
  }

  void unpack_some() {
    in_stream_ = true;
    const int result = inflate(&stream_, Z_NO_FLUSH);
    if (result == Z_MEM_ERROR) throw std::bad_alloc();
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
      refuse(stream_.msg ? stream_.msg : "it is no gzip stream");
    if (result != Z_STREAM_END) return;
    in_stream_ = false;
    inflateReset(&stream_);  // What follows is another stream.
  }

  void copy_some() {
    const uInt count = std::min(stream_.avail_in, stream_.avail_out);
    stream_.next_out = std::copy_n(stream_.next_in, count, stream_.next_out);
    stream_.next_in += count;
    stream_.avail_in -= count;
    stream_.avail_out -= count;
  }

  fs::path path_;
  PlainReader file_;
  std::vector<std::byte> packed_;
  z_stream stream_{};
  bool is_gzipped_ = false;
  bool in_stream_ = false;  // The stream that was read last has not ended.
};

/// Returns the digest of all that `reader` reads, or a text if that are not `expected` bytes.
template <class Reader>
std::string digest_of_all(Reader&& reader, std::uint64_t expected) {
  Sha256 digest;
  std::vector<std::byte> buffer(buffer_bytes);
  std::uint64_t bytes = 0;
  while (const std::size_t count = reader.read(buffer)) {
    bytes += count;
    if (bytes > expected) return "that of more than " + std::to_string(expected) + " bytes";
    digest.add(std::span(buffer).first(count));
  }
  return bytes == expected ? digest.digest() : "that of " + std::to_string(bytes) + " bytes";
}

/// A TarReader gives the members of a tar archive, one after the other.
class TarReader {
 public:
  explicit TarReader(const fs::path& archive) : reader_(archive) {}

  /// Goes on to the next member. Returns false at the end.
  bool next() {
    skip(bytes_left_ + padding_);
    if (++entries_ > most_entries) reader_.refuse("expected an archive of fewer members");
    std::array<std::byte, tar_block_bytes> header{};
    if (read_whole(header) == 0 || header[0] == std::byte{0}) return false;
    const auto* const text = reinterpret_cast<const char*>(header.data());
    check_header(header, text);
    name_.assign(text, std::find(text, text + 100, '\0'));
    is_file_ = text[156] == '0' || text[156] == '\0';
    bytes_left_ = octal(text + 124, 11);
    padding_ = (tar_block_bytes - bytes_left_ % tar_block_bytes) % tar_block_bytes;
    return true;
  }
  /// Returns the last part of the member's path.
  std::string file_name() const { return name_.substr(name_.rfind('/') + 1); }
  bool is_file() const noexcept { return is_file_; }
  std::uint64_t bytes_left() const noexcept { return bytes_left_; }

  /// Hands the bytes of the member that are left to `take`.
  template <class Take>
  void read_rest(const Take& take) {
    std::vector<std::byte> buffer(buffer_bytes);
    while (bytes_left_ > 0) {
      const auto part = std::span(buffer).first(
          static_cast<std::size_t>(std::min<std::uint64_t>(bytes_left_, buffer.size())));
      if (read_whole(part) != part.size()) reader_.refuse("it is cut short");
      bytes_left_ -= part.size();
      take(part);
    }
  }

 private:
  std::size_t read_whole(std::span<std::byte> bytes) {
    const std::size_t count = reader_.read(bytes);
    if (count != 0 && count != bytes.size()) reader_.refuse("it is cut short");
    return count;
  }

  void skip(std::uint64_t bytes) {
    bytes_left_ = bytes;
    read_rest([](std::span<const std::byte>) {});
    padding_ = 0;
  }

  std::uint64_t octal(const char* digits, std::size_t count) const {
    while (count > 0 && *digits == ' ') ++digits, --count;
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(digits, digits + count, number, 8);
    if (error != std::errc() || (end != digits + count && *end != '\0' && *end != ' '))
      reader_.refuse("expected a tar archive");
    return number;
  }

  /// Checks the sum of the header, in which its own field counts as spaces.
  void check_header(std::span<const std::byte> header, const char* text) const {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < header.size(); ++i)
      sum += i >= 148 && i < 156 ? std::uint64_t{' '} : std::to_integer<std::uint64_t>(header[i]);
    if (sum != octal(text + 148, 7)) reader_.refuse("expected a tar archive");
  }

  PackedReader reader_;
  int entries_ = 0;
  std::string name_;
  bool is_file_ = false;
  std::uint64_t bytes_left_ = 0;
  std::uint64_t padding_ = 0;
};

/// Compares the file at `path` with the member that `reader` is at.
void expect_member(TarReader& reader, const fs::path& path) {
  const std::uint64_t bytes = reader.bytes_left();
  Sha256 expected;
  reader.read_rest([&](std::span<const std::byte> part) { expected.add(part); });
  if (digest_of_all(PlainReader(path), bytes) != expected.digest())
    throw Error(Errc::invalid_data,
                path.string() +
                    ": has another content than the file of that name in the archive that was "
                    "downloaded; remove it, or name another --data-dir");
}

/// Returns the member that `reader` is at as a file that is on the disk but does not appear at
/// `path` yet. Returns none if that file is there already.
std::unique_ptr<penstock::OutputFile> written_member(TarReader& reader, const fs::path& path) {
  std::error_code it_cannot_be_seen;
  if (fs::exists(path, it_cannot_be_seen)) {
    expect_member(reader, path);
    return nullptr;
  }
  auto file = std::make_unique<penstock::OutputFile>(path);
  reader.read_rest([&](std::span<const std::byte> bytes) { file->write(bytes); });
  file->sync();
  return file;
}

}  // namespace

std::string digest_of(const fs::path& path, const KnownFile& known) try {
  return known.digested == Digested::file ? digest_of_all(PlainReader(path), known.bytes)
                                          : digest_of_all(PackedReader(path), known.bytes);
} catch (const Error& error) {
  if (error.code() != Errc::corrupt_file) throw;
  return "that of a damaged file";
}

void unpack(const fs::path& archive, const KnownDataset& dataset, const fs::path& directory) {
  std::map<std::string, std::unique_ptr<penstock::OutputFile>> files;
  TarReader reader(archive);
  while (reader.next()) {
    const std::string name = reader.file_name();
    if (!reader.is_file() || std::ranges::count(dataset.members, name) == 0) continue;
    if (reader.bytes_left() != dataset.member_bytes || files.contains(name))
      throw Error(Errc::corrupt_file, archive.string() + ": expected " + name + " once, of " +
                                          std::to_string(dataset.member_bytes) + " bytes");
    files[name] = written_member(reader, directory / name);
  }
  for (const std::string& name : dataset.members)
    if (!files.contains(name))
      throw Error(Errc::corrupt_file, archive.string() + ": expected " + name + ", got none");
  for (const auto& [name, file] : files)
    if (file) file->commit();
}

}  // namespace trainer
