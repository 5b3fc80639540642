#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "penstock/dataset.hpp"
#include "tests/support/data_path.hpp"
#include "tests/support/idx_bytes.hpp"
#include "tests/support/other_user.hpp"
#include "tests/support/read_samples.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/temporary_directory.hpp"

namespace penstock {
namespace {

using testing::gzipped;
using testing::idx_bytes;
using testing::idx_header;
using testing::read_image;

constexpr Normalization mnist_normalization{0.1307, 0.3081};

TEST(IdxDataset, ReadsMnistInFileOrderAndNormalises) {
  const auto mnist =
      read_idx(testing::data_path("mnist").string(), Split::train, mnist_normalization);
  ASSERT_EQ(mnist->size(), 6400);
  EXPECT_EQ(mnist->fields()[0].shape, (Shape{1, 28, 28}));
  EXPECT_EQ(mnist->fields()[0].dtype, DType::f32);
  EXPECT_EQ(mnist->fields()[1].shape, Shape{});
  EXPECT_EQ(mnist->fields()[1].dtype, DType::i64);
  std::vector<std::int64_t> labels;
  for (int i = 0; i < 10; ++i) labels.push_back(read_image(*mnist, i).label);
  EXPECT_EQ(labels, (std::vector<std::int64_t>{5, 0, 4, 1, 9, 2, 1, 3, 1, 4}));
  const auto five = read_image(*mnist, 0).image;
  EXPECT_FLOAT_EQ(five[0], (0 - 0.1307f) / 0.3081f);
  EXPECT_FLOAT_EQ(five[5 * 28 + 12], (3 / 255.0f - 0.1307f) / 0.3081f);
}

TEST(IdxDataset, ReadsTheTestSplit) {
  const auto test = read_idx(testing::data_path("mnist").string(), Split::test, {});
  EXPECT_EQ(test->size(), 500);
  EXPECT_EQ(read_image(*test, 0).label, 7);
}

class IdxFiles : public ::testing::Test {
 protected:
  std::shared_ptr<const Dataset> read(const std::string& images, const std::string& labels,
                                      int classes = 10) {
    testing::write_file(directory_ / "images", images);
    testing::write_file(directory_ / "labels", labels);
    return read_idx(images_path(), labels_path(), {}, classes);
  }
  std::string images_path() const { return (directory_ / "images").string(); }
  std::string labels_path() const { return (directory_ / "labels").string(); }

  testing::TemporaryDirectory directory_;
};

TEST_F(IdxFiles, AreTheSameGzippedAndPlainWhateverTheirName) {
  const std::string images = idx_bytes({3, 2, 5}, '\x33'), labels = idx_bytes({3}, 4);
  const auto plain = read_image(*read(images, labels), 2);
  EXPECT_EQ(plain, (testing::LabelledImage{std::vector<float>(10, 0.2f), 4}));
  EXPECT_EQ(read_image(*read(gzipped(images), gzipped(labels)), 2), plain);
  EXPECT_EQ(
      read_image(*read(gzipped(images.substr(0, 20)) + gzipped(images.substr(20)), labels), 2),
      plain);
}

TEST_F(IdxFiles, ADirectoryMayHoldEitherKind) {
  testing::write_file(directory_ / "train-images-idx3-ubyte", idx_bytes({3, 2, 5}));
  testing::write_file(directory_ / "train-labels-idx1-ubyte.gz", gzipped(idx_bytes({3})));
  EXPECT_EQ(read_idx(directory_.path().string(), Split::train, {})->size(), 3);
  EXPECT_EQ(idx_files(directory_.path().string(), Split::train),
            (std::vector<std::string>{(directory_ / "train-images-idx3-ubyte").string(),
                                      (directory_ / "train-labels-idx1-ubyte.gz").string()}));
}

struct IdxDamage {
  std::string name;
  std::string images;
  std::string labels;
  Errc code;
  // This is the error's text after the path of the images. "{labels}" stands for the path of the
  // labels.
  std::string text;
};

std::string without_end(std::string bytes, std::size_t count) {
  bytes.resize(bytes.size() - count);
  return bytes;
}

/// Returns `bytes` with all bits of the byte at `position` flipped, since some single bits of a
/// gzip file are mere padding.
std::string flipped(std::string bytes, std::size_t position) {
  bytes.at(position) = static_cast<char>(~bytes.at(position));
  return bytes;
}

std::vector<IdxDamage> idx_damages() {
  const std::string images = idx_bytes({3, 2, 5}), labels = idx_bytes({3});
  const std::string packed = gzipped(images);
  const std::string beyond = ", more than the file can hold";
  const Errc corrupt = Errc::corrupt_file;
  return {
      {"empty file", "", labels, corrupt, ": truncated: the file ends inside the IDX header"},
      {"half a header", images.substr(0, 9), labels, corrupt,
       ": truncated: the file ends inside the IDX header"},
      {"labels as images", labels, labels, corrupt,
       ": expected IDX data of unsigned bytes in 3 dimensions (magic number 0x00000803), got "
       "0x00000801"},
      {"text", "hello, world", labels, corrupt,
       ": expected IDX data of unsigned bytes in 3 dimensions (magic number 0x00000803), got "
       "0x68656c6c"},
      {"cut by more than the header has", without_end(images, 20), labels, corrupt,
       ": truncated or corrupt: the IDX header claims 3x2x5 elements" + beyond},
      {"cut by one byte", without_end(images, 1), labels, corrupt,
       ": truncated: the IDX header claims 3x2x5 elements, the file has 29"},
      {"cut before it was packed", gzipped(without_end(images, 1)), labels, corrupt,
       ": truncated: the IDX header claims 3x2x5 elements, the file has 29"},
      {"one byte more", images + "x", labels, corrupt,
       ": corrupt: the IDX header claims 3x2x5 elements, but more bytes follow them"},
      {"one byte more, packed", gzipped(images + "x"), labels, corrupt,
       ": corrupt: the IDX header claims 3x2x5 elements, but more bytes follow them"},
      {"10^18 elements", idx_header({1000000000, 1000000, 1000}), labels, corrupt,
       ": truncated or corrupt: the IDX header claims 1000000000x1000000x1000 elements" + beyond},
      {"10^18 elements, packed", gzipped(idx_header({1000000000, 1000000, 1000})), labels, corrupt,
       ": truncated or corrupt: the IDX header claims 1000000000x1000000x1000 elements" + beyond},
      {"more elements than 64 bits count", idx_header({~0u, ~0u, ~0u}), labels, corrupt,
       ": truncated or corrupt: the IDX header claims 4294967295x4294967295x4294967295 elements" +
           beyond},
      {"huge images, none of them", idx_header({0, ~0u, ~0u}), idx_bytes({0}), corrupt,
       ": expected images, got none"},
      {"gzip cut off", without_end(packed, 9), labels, corrupt,
       ": truncated: the gzip stream breaks off"},
      {"gzip with a damaged checksum", flipped(packed, packed.size() - 6), labels, corrupt,
       ": corrupt gzip stream: incorrect data check"},
      {"gzip with garbage behind it", packed + "garbage", labels, corrupt,
       ": corrupt gzip stream: incorrect header check"},
      {"gzip magic alone", "\x1f\x8b", labels, corrupt, ": truncated: the gzip stream breaks off"},
      {"fewer labels than images", images, idx_bytes({2}), corrupt,
       " has 3 images, but {labels} has 2 labels"},
  };
}

TEST_F(IdxFiles, DamagedAreRefusedInOneLineThatNamesThem) {
  for (const IdxDamage& damage : idx_damages()) {
    std::string expected = images_path() + damage.text;
    if (const auto at = expected.find("{labels}"); at != std::string::npos)
      expected.replace(at, 8, labels_path());
    EXPECT_EQ(testing::refusal(damage.code, [&] { read(damage.images, damage.labels); }), expected)
        << damage.name;
  }
}

/// Makes a file of a header and a hole behind it. The file is as large as the header claims.
void write_claim(const std::filesystem::path& path, std::initializer_list<std::uint32_t> dims) {
  std::uintmax_t elements = 1;
  for (const std::uint32_t dim : dims) elements *= dim;
  const std::string header = idx_header(dims);
  testing::write_file(path, header);
  std::filesystem::resize_file(path, header.size() + elements);
}

// Behind their headers, both files are holes. Reading the images would take 15 GB.
TEST_F(IdxFiles, AreComparedBeforeTheyAreRead) {
  write_claim(directory_ / "images", {15'000'000, 32, 32});
  write_claim(directory_ / "labels", {15'000'001});
  EXPECT_EQ(
      testing::refusal(Errc::corrupt_file, [&] { read_idx(images_path(), labels_path(), {}); }),
      images_path() + " has 15000000 images, but " + labels_path() + " has 15000001 labels");
  write_claim(directory_ / "labels", {15'000'000});
  const Shape expected{1, 28, 28};
  EXPECT_EQ(testing::refusal(Errc::invalid_data,
                             [&] { read_idx(images_path(), labels_path(), {}, 10, expected); }),
            images_path() + ": expected images of [1,28,28], got [1,32,32]");
}

// The images are a hole in the file. Reading them would take 15 GB.
TEST_F(IdxFiles, OfAnotherSizeThanTheirHeadersSayAreRefusedBeforeTheyAreRead) {
  constexpr std::uintmax_t header = 16, elements = 15'000'000 * std::uintmax_t{32 * 32};
  const std::string claim = "the IDX header claims 15000000x32x32 elements";
  const auto text = [&] {
    return testing::refusal(Errc::corrupt_file,
                            [&] { read_idx(images_path(), labels_path(), {}); });
  };
  write_claim(directory_ / "labels", {15'000'000});
  write_claim(directory_ / "images", {15'000'000, 32, 32});
  std::filesystem::resize_file(directory_ / "images", header + elements + 1);
  EXPECT_EQ(text(), images_path() + ": corrupt: " + claim + ", but more bytes follow them");
  std::filesystem::resize_file(directory_ / "images", header + elements - 1);
  EXPECT_EQ(text(), images_path() + ": truncated: " + claim + ", the file has 15359999999");
}

TEST_F(IdxFiles, WithABadLabelAreRefusedBeforeTheImagesAreRead) {
  write_claim(directory_ / "images", {15'000'000, 32, 32});
  write_claim(directory_ / "labels", {15'000'000});
  std::fstream labels(directory_ / "labels", std::ios::binary | std::ios::in | std::ios::out);
  labels.seekp(8 + 5);
  labels.put(77);
  labels.close();
  EXPECT_EQ(
      testing::refusal(Errc::invalid_data, [&] { read_idx(images_path(), labels_path(), {}); }),
      labels_path() + ": sample 5 has label 77, expected 0 to 9");
}

TEST_F(IdxFiles, OfTheExpectedImageAreRead) {
  testing::write_file(directory_ / "images", idx_bytes({3, 2, 5}));
  testing::write_file(directory_ / "labels", idx_bytes({3}));
  EXPECT_EQ(read_idx(images_path(), labels_path(), {}, 10, Shape{1, 2, 5})->size(), 3);
}

TEST(IdxDirectory, ThatMayNotBeSearchedIsNotTakenForAnEmptyOne) {
  const testing::TemporaryDirectory directory;
  std::filesystem::create_directory(directory / "closed");
  std::filesystem::permissions(directory.path(), std::filesystem::perms{0755});
  std::filesystem::permissions(directory / "closed", std::filesystem::perms::none);
  const std::string closed = (directory / "closed").string();
  EXPECT_TRUE(testing::succeeds_as_other_user([&] {
    EXPECT_EQ(testing::refusal(Errc::io_error, [&] { read_idx(closed, Split::train, {}); }),
              closed + "/train-images-idx3-ubyte: Permission denied");
    EXPECT_EQ(testing::refusal(Errc::io_error, [&] { read_cifar10(closed, Split::train); }),
              closed + "/data_batch_5.bin: Permission denied");
    return true;
  }));
  std::filesystem::permissions(directory / "closed", std::filesystem::perms::owner_all);
}

TEST_F(IdxFiles, AnyOneByteLostOrTurnedInAPackedFileIsNoticed) {
  const std::string images = idx_bytes({3, 2, 5}, 7), labels = gzipped(idx_bytes({3}, 1));
  for (std::size_t i = 0; i < labels.size(); ++i) {
    // Bytes 3 to 9 are the gzip header's flags, time and origin, which carry no data.
    if (i >= 3 && i < 10) continue;
    EXPECT_THROW(read(images, flipped(labels, i)), Error) << i;
    EXPECT_THROW(read(images, labels.substr(0, i)), Error) << i;
  }
}

TEST_F(IdxFiles, ALabelOutOfRangeIsRefusedNamingTheSample) {
  std::string labels = idx_bytes({3}, 1);
  labels.back() = 7;
  EXPECT_EQ(testing::refusal(Errc::invalid_data,
                             [&] {
                               read(idx_bytes({3, 1, 1}), labels, 7);
                             }),
            labels_path() + ": sample 2 has label 7, expected 0 to 6");
  EXPECT_EQ(read(idx_bytes({3, 1, 1}), labels, 8)->size(), 3);
}

TEST_F(IdxFiles, ThatAreNotFilesAreRefused) {
  const auto reading = [&](const std::string& path) {
    return testing::refusal(Errc::io_error, [&] { read_idx(path, labels_path(), {}); });
  };
  EXPECT_EQ(reading(images_path()), images_path() + ": no such file");
  EXPECT_EQ(reading(directory_.path().string()),
            directory_.path().string() + ": expected a file, got a directory or device");
  EXPECT_EQ(reading("/dev/zero"), "/dev/zero: expected a file, got a directory or device");
}

TEST(IdxDirectory, WithoutTheFilesIsRefusedNamingTheFirst) {
  const testing::TemporaryDirectory directory;
  EXPECT_EQ(testing::refusal(Errc::io_error,
                             [&] { read_idx(directory.path().string(), Split::test, {}); }),
            (directory / "t10k-images-idx3-ubyte").string() +
                "[.gz]: expected an IDX file, there is none");
}

TEST_F(IdxFiles, NeedAUsableNormalizationAndClasses) {
  const auto reading = [&](const Normalization& normalization, int classes) {
    testing::write_file(directory_ / "images", idx_bytes({3, 1, 1}));
    testing::write_file(directory_ / "labels", idx_bytes({3}));
    read_idx(images_path(), labels_path(), normalization, classes);
  };
  const double nan = std::nan("");
  for (const Normalization& unusable : {Normalization{0, 0}, {0, -1}, {nan, 1}, {0, nan}})
    EXPECT_NE(testing::refusal(Errc::invalid_argument, [&] { reading(unusable, 10); }), "accepted")
        << unusable.mean << ", " << unusable.std;
  EXPECT_EQ(testing::refusal(Errc::invalid_argument, [&] { reading({}, 0); }),
            "read_idx: expected at least 1 class, got 0");
}

}  // namespace
}  // namespace penstock
