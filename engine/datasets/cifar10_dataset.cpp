#include <array>

#include "engine/datasets/byte_images.hpp"
#include "engine/datasets/file_bytes.hpp"
#include "graph/values/hosts_thread.hpp"
#include "penstock/dataset.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

constexpr int cifar10_classes = 10;
constexpr int training_files = 5;
constexpr std::size_t record_bytes = 1 + 3 * 32 * 32;
// An original file of CIFAR-10 has a tenth of this number of records. There is a limit because a
// gzip stream could go on for ever.
constexpr std::size_t most_records = 100'000;

struct Records {
  std::vector<std::uint8_t> pixels;
  std::vector<std::uint8_t> labels;
};

/// Appends the records of the file at `path`. Memory is allocated for records that were read, and
/// never in advance.
void append_records(const std::string& path, Records& records) {
  FileBytes file(path);
  std::array<std::uint8_t, record_bytes> record;
  const std::size_t first = records.labels.size();
  while (const std::size_t got = file.read(record)) {
    const std::size_t count = records.labels.size() - first;
    if (got < record_bytes)
      file.refuse("truncated: record " + std::to_string(count) + " breaks off after " +
                  std::to_string(got) + " of " + std::to_string(record_bytes) + " bytes");
    if (count == most_records)
      file.refuse("expected at most " + std::to_string(most_records) + " records, got more");
    records.labels.push_back(record[0]);
    records.pixels.insert(records.pixels.end(), record.begin() + 1, record.end());
  }
  if (records.labels.size() == first) file.refuse("expected images, got none");
  check_labels(file.path(), std::span(records.labels).subspan(first), cifar10_classes);
}

std::string training_file(int number) {
  return "data_batch_" + std::to_string(number) + ".bin";
}

int last_training_file(const std::string& directory) {
  int number = training_files;
  while (number > 1 && !find_file(directory, training_file(number))) --number;
  return number;
}

std::shared_ptr<const Dataset> read_cifar10_files(const std::vector<std::string>& files,
                                                  const PixelFormat& format) {
  return on_hosts_thread("read_cifar10", [&] {
    if (files.empty())
      throw Error(Errc::invalid_argument, "read_cifar10: expected at least one file, got none");
    Records records;
    for (const std::string& file : files) append_records(file, records);
    return byte_images({3, 32, 32}, std::move(records.pixels), std::move(records.labels), format);
  });
}

}  // namespace

std::shared_ptr<const Dataset> read_cifar10(const std::vector<std::string>& files) {
  return read_cifar10_files(files, Normalization());
}

std::shared_ptr<const Dataset> read_cifar10(const std::vector<std::string>& files, AsBytes) {
  return read_cifar10_files(files, std::nullopt);
}

std::shared_ptr<const Dataset> read_cifar10(const std::string& directory, Split split) {
  return read_cifar10(cifar10_files(directory, split));
}

std::shared_ptr<const Dataset> read_cifar10(const std::string& directory, Split split, AsBytes) {
  return read_cifar10(cifar10_files(directory, split), as_bytes);
}

std::vector<std::string> cifar10_files(const std::string& directory, Split split) {
  return on_hosts_thread("read_cifar10", [&] {
    const std::string what = "a CIFAR-10 file";
    std::vector<std::string> files;
    if (split == Split::test) files.push_back(expect_file(directory, "test_batch.bin", what));
    const int last = split == Split::test ? 0 : last_training_file(directory);
    for (int number = 1; number <= last; ++number)
      files.push_back(expect_file(directory, training_file(number), what));
    return files;
  });
}

}  // namespace penstock
