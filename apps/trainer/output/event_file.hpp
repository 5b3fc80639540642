// An EventFile is a file of numbers over time that TensorBoard shows, even while the file grows.
// The file consists of TFRecord records, each of which has an Event of TensorFlow's event.proto.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace trainer {

/// A Scalar is a number with the name by which TensorBoard shows it, such as "train/loss".
struct Scalar {
  std::string tag;
  double value = 0;
};

/// Returns `data` as a record: the length of `data`, the checksum of the length, `data`, and the
/// checksum of `data`.
std::string record_of(std::string_view data);
/// Returns the Event with which each file begins. `wall_seconds` is the time in seconds since 1970.
std::string version_event(double wall_seconds);
/// Returns an Event with the numbers `scalars` of the step `step`. `wall_seconds` is the time in
/// seconds since 1970.
std::string scalar_event(double wall_seconds, std::int64_t step,
                         const std::vector<Scalar>& scalars);

class EventFile {
 public:
  /// Makes a new file in `directory`, and makes the directory if it is not there.
  /// @throws penstock::Error io_error that names the file.
  explicit EventFile(const std::filesystem::path& directory);

  /// Adds numbers of the step `step`, which is the number of weight updates. Programs that read the
  /// file see the numbers at once. @throws penstock::Error io_error if the file cannot be written.
  void write(std::int64_t step, const std::vector<Scalar>& scalars);

  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  void append(const std::string& event);

  std::filesystem::path path_;
  std::ofstream file_;
};

}  // namespace trainer
