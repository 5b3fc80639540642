#include "apps/trainer/output/event_file.hpp"

#include <unistd.h>

#include <array>
#include <bit>
#include <chrono>
#include <system_error>

#include "apps/trainer/output/crc32c.hpp"
#include "penstock/error.hpp"

namespace trainer {
namespace {

/// A Message writes a message of Protocol Buffers, field by field.
class Message {
 public:
  Message& add_double(int field, double value) {
    add_key(field, 1);
    append(bytes_, std::bit_cast<std::uint64_t>(value));
    return *this;
  }
  Message& add_float(int field, float value) {
    add_key(field, 5);
    append(bytes_, std::bit_cast<std::uint32_t>(value));
    return *this;
  }
  Message& add_int(int field, std::int64_t value) {
    add_key(field, 0);
    add_varint(static_cast<std::uint64_t>(value));
    return *this;
  }
  /// Adds a field that is a text or another message.
  Message& add_bytes(int field, std::string_view value) {
    add_key(field, 2);
    add_varint(value.size());
    bytes_ += value;
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

  /// Appends a number of fixed size, with its lowest byte first.
  template <class Number>
  static void append(std::string& bytes, Number number) {
    for (std::size_t i = 0; i < sizeof(number); ++i)
      bytes += static_cast<char>((number >> (8 * i)) & 0xFF);
  }

 private:
  void add_key(int field, unsigned wire_type) {
    add_varint(static_cast<std::uint64_t>(field) << 3 | wire_type);
  }
  void add_varint(std::uint64_t number) {
    for (; number >= 0x80; number >>= 7) bytes_ += static_cast<char>(number | 0x80);
    bytes_ += static_cast<char>(number);
  }

  std::string bytes_;
};

double wall_seconds() {
  using namespace std::chrono;
  return duration<double>(system_clock::now().time_since_epoch()).count();
}

/// Returns a name that no other run has, of the form that TensorBoard looks for.
std::string file_name() {
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) != 0 || host[0] == '\0') host = {"localhost"};
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto microseconds =
      std::chrono::duration_cast<std::chrono::microseconds>(now).count() % 1'000'000;
  return "events.out.tfevents." +
         std::to_string(std::chrono::duration_cast<std::chrono::seconds>(now).count()) + '.' +
         host.data() + '.' + std::to_string(getpid()) + '.' + std::to_string(microseconds);
}

}  // namespace

std::string record_of(std::string_view data) {
  std::string record;
  Message::append(record, static_cast<std::uint64_t>(data.size()));
  Message::append(record, masked_crc32c(record));
  record += data;
  Message::append(record, masked_crc32c(data));
  return record;
}

// The message Event has the fields double wall_time = 1 and string file_version = 3.
std::string version_event(double wall_seconds) {
  return Message().add_double(1, wall_seconds).add_bytes(3, "brain.Event:2").bytes();
}

// The message Event has the fields double wall_time = 1, int64 step = 2 and Summary summary = 5.
// The message Summary has the field repeated Value value = 1, and the message Value has the fields
// string tag = 1 and float simple_value = 2.
std::string scalar_event(double wall_seconds, std::int64_t step,
                         const std::vector<Scalar>& scalars) {
  Message summary;
  for (const Scalar& scalar : scalars)
    summary.add_bytes(
        1,
        Message().add_bytes(1, scalar.tag).add_float(2, static_cast<float>(scalar.value)).bytes());
  return Message()
      .add_double(1, wall_seconds)
      .add_int(2, step)
      .add_bytes(5, summary.bytes())
      .bytes();
}

EventFile::EventFile(const std::filesystem::path& directory) : path_(directory / file_name()) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error)
    throw penstock::Error(penstock::Errc::io_error,
                          "--tensorboard \"" + directory.string() + "\": " + error.message());
  file_.open(path_, std::ios::binary | std::ios::trunc);
  append(version_event(wall_seconds()));
}

void EventFile::write(std::int64_t step, const std::vector<Scalar>& scalars) {
  append(scalar_event(wall_seconds(), step, scalars));
}

void EventFile::append(const std::string& event) {
  const std::string record = record_of(event);
  if (!file_.write(record.data(), static_cast<std::streamsize>(record.size())).flush())
    throw penstock::Error(penstock::Errc::io_error,
                          "--tensorboard: cannot write \"" + path_.string() + '"');
}

}  // namespace trainer
