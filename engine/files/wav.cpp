#include "penstock/wav.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "engine/files/input_file.hpp"
#include "graph/values/hosts_thread.hpp"
#include "graph/values/memory.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are copied as they are");

constexpr int pcm_tag = 1, float_tag = 3, extensible_tag = 0xfffe;

template <class Number>
Number number_at(std::span<const std::byte> bytes, std::size_t at) {
  Number number;
  std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

/// A WavFormat is what the chunk "fmt " of a file says.
struct WavFormat {
  int tag = 0;  ///< `tag` says what the samples are; it is pcm_tag, float_tag or another number.
  std::int64_t channels = 0;
  std::int64_t sample_rate = 0;
  std::size_t bytes = 0;  ///< A sample of one channel has this many bytes.
};

struct WavChunk {
  std::array<char, 4> name{};
  std::uint32_t bytes = 0;

  bool is(std::string_view wanted) const { return std::string_view(name.data(), 4) == wanted; }
};

/// A WavReader reads one file from front to back.
class WavReader {
 public:
  explicit WavReader(const std::string& path) : path_(printable(path)), file_(path, path_) {}

  Waveform read() {
    check_start();
    std::optional<WavFormat> format;
    for (;;) {
      const WavChunk chunk = next_chunk();
      if (chunk.is("data")) {
        if (!format) refuse_wav("expected a chunk \"fmt \" before the samples, got none");
        return {read_samples(*format, chunk.bytes), format->sample_rate};
      }
      if (chunk.is("fmt "))
        format = read_format(chunk.bytes);
      else
        skip(chunk.bytes);
      skip(chunk.bytes % 2);  // A byte of padding makes the size of a chunk even.
    }
  }

 private:
  [[noreturn]] void refuse_wav(const std::string& text, Errc code = Errc::corrupt_file) const {
    throw Error(code, path_ + ": " + text);
  }

  void read_exactly(std::span<std::byte> destination) {
    if (file_.read(destination) != destination.size()) refuse_wav("truncated: the file ends early");
    taken_ += destination.size();
  }

  void skip(std::uint32_t bytes) {
    std::array<std::byte, 4096> skipped;
    while (bytes > 0) {
      const std::uint32_t count = std::min<std::uint32_t>(bytes, skipped.size());
      read_exactly(std::span(skipped).first(count));
      bytes -= count;
    }
  }

  void check_start() {
    std::array<std::byte, 12> start;
    read_exactly(start);
    if (std::memcmp(start.data(), "RIFF", 4) != 0 || std::memcmp(&start[8], "WAVE", 4) != 0)
      refuse_wav("expected a WAV file, which begins with RIFF, its size and WAVE");
  }

  WavChunk next_chunk() {
    std::array<std::byte, 8> header;
    read_exactly(header);
    WavChunk chunk{.bytes = number_at<std::uint32_t>(header, 4)};
    std::memcpy(chunk.name.data(), header.data(), chunk.name.size());
    const std::uint64_t bytes_left = file_.bytes() - std::min(file_.bytes(), taken_);
    if (chunk.bytes > bytes_left)
      refuse_wav("truncated: the chunk " + quoted_name({chunk.name.data(), 4}) + " claims " +
                 std::to_string(chunk.bytes) + " bytes, the file has " +
                 std::to_string(bytes_left));
    return chunk;
  }

  WavFormat read_format(std::uint32_t bytes) {
    constexpr std::uint32_t plain_bytes = 16, extensible_bytes = 40, kind_at = 24;
    std::array<std::byte, extensible_bytes> fields{};
    if (bytes < plain_bytes)
      refuse_wav("expected a chunk \"fmt \" of 16 bytes or more, got " + std::to_string(bytes));
    read_exactly(std::span(fields).first(std::min(bytes, extensible_bytes)));
    skip(bytes - std::min(bytes, extensible_bytes));
    WavFormat format{.tag = number_at<std::uint16_t>(fields, 0),
                     .channels = number_at<std::uint16_t>(fields, 2),
                     .sample_rate = number_at<std::uint32_t>(fields, 4)};
    if (format.tag == extensible_tag && bytes >= extensible_bytes)
      format.tag = number_at<std::uint16_t>(fields, kind_at);
    const int bits = number_at<std::uint16_t>(fields, 14);
    check_format(format, bits);
    format.bytes = static_cast<std::size_t>(bits) / 8;
    const int frame_bytes = number_at<std::uint16_t>(fields, 12);
    if (frame_bytes != format.channels * bits / 8)
      refuse_wav("expected " + std::to_string(format.channels * bits / 8) +
                 " bytes for the samples of all channels, got " + std::to_string(frame_bytes));
    return format;
  }

  void check_format(const WavFormat& format, int bits) const {
    if (!(format.tag == pcm_tag && bits == 16) && !(format.tag == float_tag && bits == 32))
      refuse_wav("expected samples of 16-bit PCM or of 32-bit floating-point numbers, got " +
                     std::to_string(bits) + " bits of format " + std::to_string(format.tag),
                 Errc::unsupported);
    if (format.channels == 0) refuse_wav("expected 1 channel or more, got 0");
    if (format.sample_rate == 0) refuse_wav("expected a sample rate of 1 or more, got 0");
  }

  Tensor read_samples(const WavFormat& format, std::uint32_t bytes) {
    const std::size_t frame_bytes = static_cast<std::size_t>(format.channels) * format.bytes;
    if (bytes % frame_bytes != 0)
      refuse_wav("expected samples of all channels, " + std::to_string(frame_bytes) +
                 " bytes each time, got " + std::to_string(bytes) + " bytes");
    const std::size_t frames = bytes / frame_bytes;
    const Shape shape{format.channels, static_cast<std::int64_t>(frames)};
    const auto block = allocate_block(static_cast<std::size_t>(shape.elements()) * sizeof(float));
    const std::span samples(reinterpret_cast<float*>(block.get()),
                            static_cast<std::size_t>(shape.elements()));
    const std::size_t at_once = std::max<std::size_t>(1, (std::size_t{1} << 16) / frame_bytes);
    std::vector<std::byte> buffer(std::min(frames, at_once) * frame_bytes);
    for (std::size_t first = 0; first < frames; first += at_once) {
      const std::span<std::byte> piece =
          std::span(buffer).first(std::min(frames - first, at_once) * frame_bytes);
      read_exactly(piece);
      place_samples(format, piece, first, samples);
    }
    return Tensor::wrap(DType::f32, shape, block);
  }

  /// Converts the samples of `piece`, which has those of all channels from sample `first` on, and
  /// writes them to `samples`, where those of each channel stand side by side.
  static void place_samples(const WavFormat& format, std::span<const std::byte> piece,
                            std::size_t first, std::span<float> samples) {
    const auto channels = static_cast<std::size_t>(format.channels);
    const std::size_t frames = samples.size() / channels;
    for (std::size_t i = 0; i < piece.size() / format.bytes; ++i) {
      const std::size_t at = i * format.bytes;
      samples[i % channels * frames + first + i / channels] =
          format.tag == float_tag ? number_at<float>(piece, at)
                                  : static_cast<float>(number_at<std::int16_t>(piece, at)) / 32768;
    }
  }

  std::string path_;
  InputFile file_;
  std::uint64_t taken_ = 0;  ///< This many bytes of the file were read.
};

}  // namespace

Waveform load_wav(const std::string& path) {
  return on_hosts_thread("load_wav", [&] { return WavReader(path).read(); });
}

}  // namespace penstock
