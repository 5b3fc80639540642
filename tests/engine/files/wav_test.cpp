#include "penstock/wav.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "penstock/error.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/temporary_directory.hpp"

namespace penstock {
namespace {

using testing::refusal;

template <class Value>
std::string wav_numbers(const std::vector<Value>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Value)};
}

std::string wav_chunk(const std::string& name, const std::string& content) {
  return name + wav_numbers<std::uint32_t>({static_cast<std::uint32_t>(content.size())}) + content +
         std::string(content.size() % 2, '\0');
}

std::string wav_riff(const std::string& chunks) {
  return wav_chunk("RIFF", "WAVE" + chunks);
}

/// A WavNumbers has the numbers of a chunk "fmt ".
struct WavNumbers {
  int tag = 1;
  int channels = 1;
  int sample_rate = 16000;
  int bits = 16;
};

std::string fmt_content(const WavNumbers& format) {
  const auto u16 = [](int number) { return static_cast<std::uint16_t>(number); };
  const auto u32 = [](int number) { return static_cast<std::uint32_t>(number); };
  const int frame_bytes = format.channels * format.bits / 8;
  return wav_numbers<std::uint16_t>({u16(format.tag), u16(format.channels)}) +
         wav_numbers<std::uint32_t>(
             {u32(format.sample_rate), u32(format.sample_rate * frame_bytes)}) +
         wav_numbers<std::uint16_t>({u16(frame_bytes), u16(format.bits)});
}

std::string wav(const WavNumbers& format, const std::string& samples) {
  return wav_riff(wav_chunk("fmt ", fmt_content(format)) + wav_chunk("data", samples));
}

class WavFiles : public ::testing::Test {
 protected:
  std::string path() const { return (directory_ / "a.wav").string(); }
  Waveform load(const std::string& bytes) {
    testing::write_file(path(), bytes);
    return load_wav(path());
  }
  std::vector<float> samples(const std::string& bytes) {
    const Tensor tensor = load(bytes).samples;
    return {tensor.as<float>().begin(), tensor.as<float>().end()};
  }
  /// Returns the text behind the name of the file.
  std::string refused(Errc code, const std::string& bytes) {
    const std::string text = refusal(code, [&] { load(bytes); });
    return text.starts_with(path()) ? text.substr(path().size() + 2) : text;
  }

  testing::TemporaryDirectory directory_;
};

TEST_F(WavFiles, Of16BitSamplesAreReadChannelByChannel) {
  const std::string bytes = wav({.channels = 2, .sample_rate = 44100},
                                wav_numbers<std::int16_t>({-32768, 1, 0, 32767, 16384, -1}));
  const Waveform waveform = load(bytes);
  EXPECT_EQ(waveform.sample_rate, 44100);
  EXPECT_EQ(waveform.samples.shape(), (Shape{2, 3}));
  EXPECT_EQ(samples(bytes),
            (std::vector<float>{-1, 0, 0.5f, 1 / 32768.0f, 32767 / 32768.0f, -1 / 32768.0f}));
}

TEST_F(WavFiles, OfFloatingPointSamplesAreReadAsTheyAre) {
  const std::vector<float> numbers{0.25f, -3, 1e-30f};
  EXPECT_EQ(samples(wav({.tag = 3, .bits = 32}, wav_numbers(numbers))), numbers);
}

TEST_F(WavFiles, OfTheExtensibleFormatAreRead) {
  const std::string more = wav_numbers<std::uint16_t>({22, 16}) + wav_numbers<std::uint32_t>({4});
  const std::string kind = wav_numbers<std::uint16_t>({1}) + "\x00\x00\x00\x00\x10\x00\x80";
  std::string format = fmt_content({.tag = 0xfffe}) + more + kind;
  format.resize(40);
  EXPECT_EQ(samples(wav_riff(wav_chunk("fmt ", format) +
                             wav_chunk("data", wav_numbers<std::int16_t>({16384})))),
            std::vector{0.5f});
}

TEST_F(WavFiles, OfManySamplesAreRead) {
  std::vector<std::int16_t> numbers(300'000);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::int16_t>(i);
  const std::vector<float> all = samples(wav({.channels = 3}, wav_numbers(numbers)));
  ASSERT_EQ(all.size(), numbers.size());
  for (std::size_t i = 0; i < numbers.size(); ++i)
    ASSERT_EQ(all[i % 3 * 100'000 + i / 3], static_cast<float>(numbers[i]) / 32768) << i;
}

TEST_F(WavFiles, MayHaveOtherChunksAndNoSamples) {
  const std::string format = wav_chunk("fmt ", fmt_content({}) + std::string("\0\0", 2));
  const std::string other = wav_chunk("LIST", "odd");
  EXPECT_EQ(samples(wav_riff(other + format + other +
                             wav_chunk("data", wav_numbers<std::int16_t>({8192})) + other)),
            std::vector{0.25f});
  EXPECT_EQ(load(wav_riff(format + wav_chunk("data", ""))).samples.shape(), (Shape{1, 0}));
}

TEST_F(WavFiles, OfOtherSamplesAreRefused) {
  const auto with = [&](int tag, int bits) {
    return refused(Errc::unsupported, wav({.tag = tag, .bits = bits}, ""));
  };
  EXPECT_EQ(with(1, 24),
            "expected samples of 16-bit PCM or of 32-bit floating-point numbers, got 24 bits of "
            "format 1");
  for (const auto& [tag, bits] :
       {std::pair{1, 8}, {1, 32}, {3, 64}, {3, 16}, {2, 16}, {0xfffe, 16}, {1, 0}})
    EXPECT_NE(with(tag, bits), "accepted") << tag << ", " << bits;
}

TEST_F(WavFiles, ThatBreakTheFormatAreRefused) {
  const auto text = [&](const std::string& bytes) { return refused(Errc::corrupt_file, bytes); };
  const std::string format = wav_chunk("fmt ", fmt_content({}));
  EXPECT_EQ(text("RIFX\1\2\3\4WAVE"),
            "expected a WAV file, which begins with RIFF, its size and WAVE");
  EXPECT_EQ(text(wav_riff(wav_chunk("data", "1234"))),
            "expected a chunk \"fmt \" before the samples, got none");
  EXPECT_EQ(text(wav_riff(format)), "truncated: the file ends early");
  EXPECT_EQ(text(wav_riff(wav_chunk("fmt ", "short"))),
            "expected a chunk \"fmt \" of 16 bytes or more, got 5");
  EXPECT_EQ(text(wav({.channels = 0}, "")), "expected 1 channel or more, got 0");
  EXPECT_EQ(text(wav({.sample_rate = 0}, "")), "expected a sample rate of 1 or more, got 0");
  EXPECT_EQ(text(wav({.channels = 2}, "123456")),
            "expected samples of all channels, 4 bytes each time, got 6 bytes");
  EXPECT_EQ(text(wav_riff(format + "data\xff\xff\xff\xff"
                                   "12")),
            "truncated: the chunk \"data\" claims 4294967295 bytes, the file has 2");
  std::string other_frame = fmt_content({});
  other_frame[12] = 4;
  EXPECT_EQ(text(wav_riff(wav_chunk("fmt ", other_frame))),
            "expected 2 bytes for the samples of all channels, got 4");
}

TEST_F(WavFiles, ThatAreCutShortAreRefused) {
  const std::string whole = wav({}, "123456");
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_NE(refused(Errc::corrupt_file, whole.substr(0, size)), "accepted") << size;
  EXPECT_EQ(refusal(Errc::io_error, [&] { load_wav(path() + "2"); }), path() + "2: no such file");
}

}  // namespace
}  // namespace penstock
