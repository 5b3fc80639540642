// This program fuzzes what the trainer reads, configuration files and the archives that it
// downloads, and checks how much memory their readers ask for. The test suite runs it for a short
// time; a long run is
//
//   build-test/tests/tools/fuzz/fuzz_trainer --seconds 600 [--seed S] [READER...]
//
// where --seconds is the time for each reader. The readers are configuration and archive.
#include <cstdio>
#include <cstring>
#include <memory>

#include "apps/trainer/download/packed_file.hpp"
#include "apps/trainer/options/configuration.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/tools/fuzz/bounded_reader.hpp"
#include "tests/tools/fuzz/memory_file.hpp"

namespace penstock::testing {
namespace {

FuzzedReader configuration() {
  const auto file = std::make_shared<MemoryFile>();
  return {
      .name = "configuration",
      .seeds =
          {trainer::configuration_text({}),
           R"({"epochs": 3, "optimizer": "sgd", "momentum": 0.9, "stages": "B1|B2,B3,B4", "debug": true})"},
      .words = {"{", "}", "[", "]", ":", ",", "\"", "true", "null", "1e999", "-1", "\\u0041",
                "auto", "|"},
      .read =
          [file](const std::string& text) {
            file->write(text);
            trainer::TrainerOptions options;
            apply(trainer::read_configuration(file->path()), options);
          },
      .hostile = {R"({"epochs": 1, "epochs": 2})", R"({"epochs": 1e400})", R"({"epochs": [3]})",
                  R"({"no-such-option": 1})", R"({"stages": )" + std::string(100'000, '['), "[]",
                  "", R"({"config": "x"})"}};
}

constexpr std::size_t tar_block = 512, member_bytes = 700;
// All names in the archives begin with this letter, and no content does.
constexpr char first_of_names = 'd';

/// Returns a member of a tar archive, whose header has no checksum yet. The header says that the
/// member has `claimed` bytes, in octal digits.
std::string member(const std::string& name, const std::string& content,
                   const std::string& claimed) {
  std::string header(tar_block, '\0');
  header.replace(0, name.size(), name).replace(124, claimed.size(), claimed);
  header[156] = '0';
  return header + content + std::string((tar_block - content.size() % tar_block) % tar_block, '\0');
}

/// Gives each header its checksum, because no mutation would get past it.
std::string with_checksums(std::string archive) {
  for (std::size_t at = 0; at + tar_block <= archive.size(); at += tar_block) {
    if (archive[at] != first_of_names) continue;
    std::memset(archive.data() + at + 148, ' ', 8);
    unsigned sum = 0;
    for (std::size_t i = at; i < at + tar_block; ++i) sum += static_cast<unsigned char>(archive[i]);
    std::snprintf(archive.data() + at + 148, 8, "%06o", sum);
  }
  return archive;
}

FuzzedReader archive() {
  trainer::KnownDataset dataset;
  dataset.members = {"one.bin", "two.bin"};
  dataset.member_bytes = member_bytes;
  const std::string one = member("d/one.bin", std::string(member_bytes, '1'), "00000001274");
  const std::string two = member("d/two.bin", std::string(member_bytes, '2'), "00000001274");
  const std::string readme = member("d/readme", "text", "00000000004");
  const auto file = std::make_shared<MemoryFile>();
  const auto directory = std::make_shared<const TemporaryDirectory>();
  return {.name = "archive",
          .seeds = {one + two, readme + two + one},
          .words = {"one.bin", "two.bin", "../", "00000001274", "77777777777", "5", "2"},
          .read =
              [=](const std::string& bytes) {
                file->write(with_checksums(bytes));
                trainer::unpack(file->path(), dataset, directory->path());
              },
          .hostile = {one, one + one + two, member("d/one.bin", "1", "77777777777"),
                      member("d/huge", "", "77777777777") + one + two, one.substr(0, 900),
                      member("d/one.bin", "1", "-1"), ""}};
}

}  // namespace

std::vector<FuzzedReader> fuzzed_readers() {
  return {bounded(configuration(), 64), bounded(archive(), 64)};
}

}  // namespace penstock::testing
