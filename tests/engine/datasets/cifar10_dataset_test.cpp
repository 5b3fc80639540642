// E6 of docs/reference.md: these tests read CIFAR-10's binary format.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "penstock/dataset.hpp"
#include "tests/support/idx_bytes.hpp"
#include "tests/support/read_samples.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/temporary_directory.hpp"

namespace penstock {
namespace {

using testing::gzipped;
using testing::read_image;
using testing::refusal;

/// Returns a record: a label, then a red, a green and a blue plane. Each plane has the same byte
/// everywhere.
std::string record(char label, char red, char green, char blue) {
  constexpr std::size_t plane = 32 * 32;
  return label + std::string(plane, red) + std::string(plane, green) + std::string(plane, blue);
}

std::string records(int count) {
  std::string bytes;
  for (int i = 0; i < count; ++i) bytes += record(static_cast<char>(i % 10), 1, 2, 3);
  return bytes;
}

class Cifar10Files : public ::testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& bytes) {
    testing::write_file(directory_ / name, bytes);
    return path(name);
  }
  std::string path(const std::string& name) const { return (directory_ / name).string(); }
  std::string directory() const { return directory_.path().string(); }

  testing::TemporaryDirectory directory_;
};

TEST_F(Cifar10Files, E6_GiveImagesOfThreeChannelsBetween0And1) {
  const auto dataset =
      read_cifar10({write("a", record(7, 0, '\x33', '\xff')), write("b", records(2))});
  ASSERT_EQ(dataset->size(), 3);
  EXPECT_EQ(dataset->fields()[0].shape, (Shape{3, 32, 32}));
  EXPECT_EQ(dataset->fields()[0].dtype, DType::f32);
  EXPECT_EQ(dataset->fields()[1].shape, Shape{});
  EXPECT_EQ(dataset->fields()[1].dtype, DType::i64);
  const auto first = read_image(*dataset, 0);
  EXPECT_EQ(first.label, 7);
  EXPECT_EQ(first.image[1023], 0.0f);
  EXPECT_EQ(first.image[1024], 0.2f);
  EXPECT_EQ(first.image[3071], 1.0f);
  EXPECT_EQ(read_image(*dataset, 2).label, 1);
}

TEST_F(Cifar10Files, E6_AreTheSameGzippedAndPlainWhateverTheirName) {
  const auto plain = read_image(*read_cifar10({write("plain", records(3))}), 2);
  EXPECT_EQ(read_image(*read_cifar10({write("packed", gzipped(records(3)))}), 2), plain);
}

TEST_F(Cifar10Files, E6_OfADirectoryAreThoseNumberedFromOne) {
  write("data_batch_1.bin", records(2));
  write("data_batch_2.bin.gz", gzipped(records(3)));
  write("test_batch.bin", records(1));
  EXPECT_EQ(cifar10_files(directory(), Split::train),
            (std::vector<std::string>{path("data_batch_1.bin"), path("data_batch_2.bin.gz")}));
  EXPECT_EQ(read_cifar10(directory(), Split::train)->size(), 5);
  EXPECT_EQ(read_cifar10(directory(), Split::test)->size(), 1);
  write("data_batch_4.bin", records(2));
  EXPECT_EQ(refusal(Errc::io_error, [&] { read_cifar10(directory(), Split::train); }),
            path("data_batch_3.bin") + "[.gz]: expected a CIFAR-10 file, there is none");
}

TEST_F(Cifar10Files, E6_MissingAreRefusedNamingTheFirst) {
  EXPECT_EQ(refusal(Errc::io_error, [&] { read_cifar10(directory(), Split::train); }),
            path("data_batch_1.bin") + "[.gz]: expected a CIFAR-10 file, there is none");
  EXPECT_EQ(refusal(Errc::io_error, [&] { read_cifar10(directory(), Split::test); }),
            path("test_batch.bin") + "[.gz]: expected a CIFAR-10 file, there is none");
  EXPECT_EQ(refusal(Errc::io_error, [&] { read_cifar10({path("none")}); }),
            path("none") + ": no such file");
  EXPECT_EQ(refusal(Errc::invalid_argument, [] { read_cifar10({}); }),
            "read_cifar10: expected at least one file, got none");
}

struct Damage {
  std::string name;
  std::string bytes;
  Errc code;
  std::string text;  // This is the part of the error's text after the path.
};

std::vector<Damage> damages() {
  const std::string packed = gzipped(records(2));
  std::string flipped = packed;
  flipped[packed.size() - 6] = static_cast<char>(~flipped[packed.size() - 6]);
  const Errc corrupt = Errc::corrupt_file;
  return {
      {"empty", "", corrupt, ": expected images, got none"},
      {"half a record", records(1).substr(0, 100), corrupt,
       ": truncated: record 0 breaks off after 100 of 3073 bytes"},
      {"cut by one byte", records(2).substr(0, 2 * 3073 - 1), corrupt,
       ": truncated: record 1 breaks off after 3072 of 3073 bytes"},
      {"one byte more, packed", gzipped(records(2) + "x"), corrupt,
       ": truncated: record 2 breaks off after 1 of 3073 bytes"},
      {"gzip cut off", packed.substr(0, packed.size() - 9), corrupt,
       ": truncated: the gzip stream breaks off"},
      {"gzip with a damaged checksum", flipped, corrupt,
       ": corrupt gzip stream: incorrect data check"},
      {"label", records(2) + record(10, 0, 0, 0), Errc::invalid_data,
       ": sample 2 has label 10, expected 0 to 9"},
  };
}

TEST_F(Cifar10Files, E6_DamagedAreRefusedInOneLineThatNamesThem) {
  const std::string good = write("good", records(1));
  for (const Damage& damage : damages())
    EXPECT_EQ(refusal(damage.code,
                      [&] {
                        read_cifar10({good, write("bad", damage.bytes)});
                      }),
              path("bad") + damage.text)
        << damage.name;
}

}  // namespace
}  // namespace penstock
