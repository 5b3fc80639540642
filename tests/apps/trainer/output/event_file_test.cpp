// These tests check the files of numbers for TensorBoard, byte by byte.

#include "apps/trainer/output/event_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apps/trainer/output/crc32c.hpp"
#include "penstock/error.hpp"
#include "tests/support/temporary_directory.hpp"

namespace trainer {
namespace {

using penstock::testing::file_content;
using penstock::testing::TemporaryDirectory;

std::string bytes(std::initializer_list<int> values) {
  std::string text;
  for (const int value : values) text += static_cast<char>(value);
  return text;
}

// The expected checksums are those of RFC 3720, appendix B.4.
TEST(Crc32c, IsThatOfTheStandard) {
  EXPECT_EQ(crc32c(""), 0U);
  EXPECT_EQ(crc32c("123456789"), 0xE3069283U);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8A9136AAU);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62A8AB43U);
}

TEST(Crc32c, IsMaskedAsTensorFlowDoes) {
  EXPECT_EQ(masked_crc32c(""), 0xA282EAD8U);
  const std::uint32_t crc = crc32c("foo"), masked = masked_crc32c("foo");
  EXPECT_EQ(((masked - 0xA282EAD8U) << 15) | ((masked - 0xA282EAD8U) >> 17), crc);
}

TEST(EventFile, FramesARecordByItsLengthAndTwoChecksums) {
  const std::string record = record_of("foo");
  ASSERT_EQ(record.size(), 8U + 4 + 3 + 4);
  EXPECT_EQ(record.substr(0, 8), bytes({3, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(record.substr(12, 3), "foo");
}

TEST(EventFile, SpellsEventsAsProtocolBuffers) {
  EXPECT_EQ(version_event(1.0),
            bytes({0x09, 0, 0, 0, 0, 0, 0, 0xF0, 0x3F, 0x1A, 13}) + "brain.Event:2");
  EXPECT_EQ(scalar_event(1.0, 300, {{"a", 0.5}}),
            bytes({0x09, 0,  0,    0, 0,    0, 0,   0xF0, 0x3F, 0x10, 0xAC, 0x02,
                   0x2A, 10, 0x0A, 8, 0x0A, 1, 'a', 0x15, 0,    0,    0,    0x3F}));
}

TEST(EventFile, GrowsByWholeRecordsInADirectoryThatItMakes) {
  const TemporaryDirectory directory;
  EventFile file(directory / "runs/one");
  EXPECT_EQ(file.path().filename().string().find("events.out.tfevents."), 0U);
  const std::size_t empty = file_content(file.path()).size();
  file.write(1, {{"loss", 1}});
  const std::size_t one = file_content(file.path()).size();
  EXPECT_GT(one, empty);
  file.write(2, {{"loss", 1}});
  EXPECT_EQ(file_content(file.path()).size(), one + one - empty);
}

TEST(EventFile, IsRefusedWhereThereCanBeNone) {
  const TemporaryDirectory directory;
  penstock::testing::write_file(directory / "file", "");
  EXPECT_THROW(EventFile(directory / "file"), penstock::Error);
}

}  // namespace
}  // namespace trainer
