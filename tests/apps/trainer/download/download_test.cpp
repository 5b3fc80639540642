#include "apps/trainer/download/download.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>

#include "apps/trainer/download/sha256.hpp"
#include "penstock/error.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/temporary_directory.hpp"

namespace trainer {
namespace {

using penstock::Errc;
using penstock::testing::file_content;
using penstock::testing::write_file;
using Lines = std::vector<std::string>;

std::string gzipped(const std::string& text) {
  const penstock::testing::TemporaryDirectory directory;
  const std::string path = (directory / "packed").string();
  gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
  gzclose(file);
  return file_content(path);
}

std::string sha256(const std::string& text) {
  Sha256 digest;
  digest.add(std::as_bytes(std::span(text)));
  return digest.digest();
}

/// Returns a member of a tar archive.
std::string tar_member(const std::string& name, const std::string& content, char type = '0') {
  std::string header(512, '\0');
  std::memcpy(header.data(), name.data(), name.size());
  std::snprintf(header.data() + 124, 12, "%011zo", content.size());
  header[156] = type;
  std::memset(header.data() + 148, ' ', 8);
  unsigned sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  std::snprintf(header.data() + 148, 8, "%06o", sum);
  return header + content + std::string((512 - content.size() % 512) % 512, '\0');
}

/// A Server stands in for servers: it serves `files`, at most `most_bytes` bytes at a time.
struct Server {
  std::map<std::string, std::string> files = {};
  std::size_t most_bytes = 1 << 20;
  std::function<void()> on_fetch = [] {};
  Lines asked = {};  ///< These are the files that were asked for, with the first byte behind each.

  void fetch(const FetchRequest& request, PartialFile& file) {
    const std::string name = request.url.substr(request.url.rfind('/') + 1);
    asked.push_back(name + " " + std::to_string(file.bytes()));
    on_fetch();
    const std::string& content = files.at(name);
    const std::string rest = content.substr(std::min<std::size_t>(content.size(), file.bytes()));
    file.append(std::as_bytes(std::span(rest)).first(std::min(rest.size(), most_bytes)));
    if (rest.size() > most_bytes) throw penstock::Error(Errc::io_error, "the connection broke");
  }
};

class Downloads : public ::testing::Test {
 protected:
  Downloads() {
    server_.files = {{"a.gz", gzipped(a_)}, {"b.bin", b_}};
    dataset_.files = {{"a.gz", sha256(a_), Digested::unpacked, a_.size()},
                      {"b.bin", sha256(b_), Digested::file, b_.size()}};
  }

  /// Downloads the data set, and returns the lines that tell about it.
  Lines lines() {
    Lines lines;
    download(dataset_, {.directory = target(),
                        .url = "https://example.org/",
                        .fetch = [&](const FetchRequest& request,
                                     PartialFile& f) { server_.fetch(request, f); },
                        .on_file = [&](const std::string& line) { lines.push_back(line); }});
    for (std::string& line : lines) line = line.substr(target().string().size() + 1);
    return lines;
  }
  std::string refusal(Errc code) {
    return penstock::testing::refusal(code, [&] { lines(); });
  }
  std::filesystem::path target() const { return directory_ / "new/data"; }
  Lines names() const {
    Lines names;
    std::error_code it_is_not_there;
    for (const auto& entry : std::filesystem::directory_iterator(target(), it_is_not_there))
      names.push_back(entry.path().filename().string());
    std::ranges::sort(names);
    return names;
  }

  const std::string kept_ = "; what has come is kept, and the same command goes on from there";
  const std::string a_ = std::string(5000, 'a') + "end", b_ = std::string(3000, 'b');
  const penstock::testing::TemporaryDirectory directory_;
  Server server_;
  KnownDataset dataset_;
};

TEST_F(Downloads, PutCheckedFilesIntoANewDirectory) {
  EXPECT_EQ(lines(), (Lines{"a.gz", "b.bin"}));
  EXPECT_EQ(names(), (Lines{"a.gz", "b.bin"}));
  EXPECT_EQ(file_content(target() / "a.gz"), server_.files["a.gz"]);
  EXPECT_EQ(file_content(target() / "b.bin"), b_);
}

TEST_F(Downloads, LeaveAloneWhatIsThereGzippedOrPlain) {
  lines();
  std::filesystem::remove(target() / "a.gz");
  write_file(target() / "a", a_);
  server_.asked.clear();
  EXPECT_EQ(lines(), (Lines{"a is there already", "b.bin is there already"}));
  EXPECT_EQ(server_.asked, Lines{});
}

TEST_F(Downloads, LookAtEveryFileThatAReaderMayTake) {
  lines();
  write_file(target() / "a", a_);
  EXPECT_EQ(lines(), (Lines{"a is there already", "b.bin is there already"}));
  write_file(target() / "a", "mine");
  EXPECT_EQ(refusal(Errc::invalid_data).find((target() / "a: is not the file").string()), 0u);
}

TEST_F(Downloads, RefuseToReplaceAnotherFile) {
  std::filesystem::create_directories(target());
  write_file(target() / "b.bin", "mine");
  EXPECT_EQ(refusal(Errc::invalid_data),
            (target() / "b.bin").string() +
                ": is not the file of that name that was to be downloaded; remove it, or name "
                "another --data-dir");
  EXPECT_EQ(file_content(target() / "b.bin"), "mine");
}

TEST_F(Downloads, RefuseToReplaceWhatIsNoFile) {
  std::filesystem::create_directories(target());
  const std::string path = (target() / "b.bin").string();
  const auto expect_refused = [&] {
    EXPECT_EQ(refusal(Errc::invalid_data).find(path + ": is not the file of that name"), 0u);
    EXPECT_TRUE(std::filesystem::is_symlink(path) || std::filesystem::exists(path));
    std::filesystem::remove(path);
  };
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  expect_refused();
  std::filesystem::create_directory(path);
  expect_refused();
  std::filesystem::create_symlink("nowhere", path);
  expect_refused();
}

TEST_F(Downloads, GoOnWhereTheyWereCutOff) {
  server_.most_bytes = 1000;
  const std::string kept = "the connection broke" + kept_;
  EXPECT_EQ(refusal(Errc::io_error), kept);
  EXPECT_EQ(names(), (Lines{"a.gz", "b.bin.penstock-part"}));
  EXPECT_EQ(refusal(Errc::io_error), kept);
  EXPECT_EQ(lines(), (Lines{"a.gz is there already", "b.bin"}));
  EXPECT_EQ(server_.asked, (Lines{"a.gz 0", "b.bin 0", "b.bin 1000", "b.bin 2000"}));
  EXPECT_EQ(file_content(target() / "b.bin"), b_);
  EXPECT_EQ(names(), (Lines{"a.gz", "b.bin"}));
}

TEST_F(Downloads, KeepAFileThatCannotBePutIntoItsPlace) {
  server_.on_fetch = [&] { std::filesystem::create_directories(target() / "a.gz"); };
  const std::string text = refusal(Errc::io_error);
  EXPECT_NE(text.find("cannot be renamed to a.gz"), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with(kept_)) << text;
  std::filesystem::remove(target() / "a.gz");
  server_.on_fetch = [] {};
  EXPECT_EQ(lines(), (Lines{"a.gz", "b.bin"}));
  EXPECT_EQ(server_.asked, (Lines{"a.gz 0", "b.bin 0"}));
}

TEST_F(Downloads, AskForNothingIfTheWholeFileHasComeBefore) {
  std::filesystem::create_directories(target());
  write_file(target() / "b.bin.penstock-part", b_);
  EXPECT_EQ(lines(), (Lines{"a.gz", "b.bin"}));
  EXPECT_EQ(server_.asked, (Lines{"a.gz 0"}));
}

TEST_F(Downloads, KeepNothingOfAFileWithAWrongChecksum) {
  const std::string wrong = std::string(2999, 'b') + 'x';
  for (const std::string& content : {wrong, b_.substr(1), gzipped("other")}) {
    server_.files["b.bin"] = content;
    EXPECT_EQ(refusal(Errc::corrupt_file)
                  .find("https://example.org/b.bin: expected a file with "
                        "the SHA-256 " +
                        sha256(b_) + ", got "),
              0u);
    EXPECT_EQ(names(), (Lines{"a.gz"}));
  }
  // Bytes of another file that came before are noticed, too.
  write_file(target() / "b.bin.penstock-part", "x");
  server_.files["b.bin"] = b_;
  EXPECT_NE(refusal(Errc::corrupt_file), "accepted");
  EXPECT_EQ(lines(), (Lines{"a.gz is there already", "b.bin"}));
}

TEST_F(Downloads, OfGzippedFilesCheckWhatTheyHold) {
  for (const std::string& content :
       {gzipped(a_ + "more"), gzipped("less"), gzipped(std::string(a_.size(), 'x')),
        gzipped(a_) + "junk", server_.files["a.gz"].substr(0, 20), std::string("no gzip"),
        std::string()}) {
    server_.files["a.gz"] = content;
    EXPECT_NE(refusal(Errc::corrupt_file), "accepted");
    EXPECT_EQ(names(), Lines{});
  }
  server_.files["a.gz"] = gzipped(a_.substr(0, 100)) + gzipped(a_.substr(100));
  EXPECT_EQ(lines().front(), "a.gz");
}

TEST_F(Downloads, OfOneDirectoryAreMadeByOneProcess) {
  const PartialFile other(target() / "a.gz");
  EXPECT_EQ(refusal(Errc::busy),
            (target() / "a.gz.penstock-part: another process writes it").string());
}

TEST_F(Downloads, ThatBringNothingLeaveNothing) {
  server_.most_bytes = 0;
  EXPECT_EQ(refusal(Errc::io_error), "the connection broke");
  EXPECT_FALSE(std::filesystem::exists(directory_ / "new"));
}

TEST_F(Downloads, RemoveNoDirectoryThatWasThereBefore) {
  std::filesystem::create_directories(target());
  server_.most_bytes = 0;
  EXPECT_EQ(refusal(Errc::io_error), "the connection broke");
  EXPECT_TRUE(std::filesystem::exists(target()));
}

TEST_F(Downloads, RemoveWhatIsLeftOfAFileThatIsThere) {
  lines();
  write_file(target() / "b.bin.penstock-part", "x");
  lines();
  EXPECT_EQ(names(), (Lines{"a.gz", "b.bin"}));
}

TEST_F(Downloads, LeaveAloneThePartsOfOtherPrograms) {
  std::filesystem::create_directories(target());
  write_file(target() / "b.bin.part", "a browser's");
  lines();
  lines();
  EXPECT_EQ(file_content(target() / "b.bin.part"), "a browser's");
}

TEST_F(Downloads, AreRefusedWhereNoFileCanBe) {
  write_file(directory_ / "new", "a file");
  EXPECT_NE(refusal(Errc::io_error), "accepted");
}

class ArchiveDownloads : public Downloads {
 protected:
  ArchiveDownloads() {
    dataset_.members = {"one.bin", "two.bin"};
    dataset_.member_bytes = 700;
    serve(tar_member("data/", "", '5') + tar_member("data/readme.html", "text") +
          tar_member("data/two.bin", std::string(700, '2')) +
          tar_member("data/one.bin", std::string(700, '1')));
  }
  void serve(const std::string& members) {
    const std::string packed = gzipped(members + std::string(1024, '\0'));
    server_.files = {{"all.tar.gz", packed}};
    dataset_.files = {{"all.tar.gz", sha256(packed), Digested::file, packed.size()}};
  }
};

TEST_F(ArchiveDownloads, UnpackTheMembersAndRemoveTheArchive) {
  EXPECT_EQ(lines(), (Lines{"one.bin", "two.bin"}));
  EXPECT_EQ(names(), (Lines{"one.bin", "two.bin"}));
  EXPECT_EQ(file_content(target() / "one.bin"), std::string(700, '1'));
  EXPECT_EQ(file_content(target() / "two.bin"), std::string(700, '2'));
  server_.asked.clear();
  write_file(target() / "all.tar.gz.penstock-part", "left by a run that was killed");
  EXPECT_EQ(lines(), (Lines{"one.bin is there already", "two.bin is there already"}));
  EXPECT_EQ(names(), (Lines{"one.bin", "two.bin"}));
  EXPECT_EQ(server_.asked, Lines{});
}

TEST_F(ArchiveDownloads, LeaveAMemberOfAnotherSizeAndAskForNothing) {
  std::filesystem::create_directories(target());
  write_file(target() / "one.bin", "mine");
  EXPECT_EQ(refusal(Errc::invalid_data),
            (target() / "one.bin").string() +
                ": is not the file of that name that was to be downloaded; remove it, or name "
                "another --data-dir");
  EXPECT_EQ(file_content(target() / "one.bin"), "mine");
  EXPECT_EQ(server_.asked, Lines{});
}

TEST_F(ArchiveDownloads, CompareAMemberThatIsThereWithTheArchive) {
  std::filesystem::create_directories(target());
  write_file(target() / "two.bin", std::string(700, 'x'));
  EXPECT_EQ(refusal(Errc::invalid_data),
            (target() / "two.bin").string() +
                ": has another content than the file of that name in the archive that was "
                "downloaded; remove it, or name another --data-dir");
  EXPECT_EQ(file_content(target() / "two.bin"), std::string(700, 'x'));
  EXPECT_EQ(names(), (Lines{"all.tar.gz.penstock-part", "two.bin"}));
  write_file(target() / "two.bin", std::string(700, '2'));
  EXPECT_EQ(lines(), (Lines{"one.bin", "two.bin"}));
  EXPECT_EQ(names(), (Lines{"one.bin", "two.bin"}));
  EXPECT_EQ(server_.asked, Lines{"all.tar.gz 0"}) << "The archive that had come is taken again.";
}

TEST_F(ArchiveDownloads, KeepAnArchiveThatCannotBeUnpacked) {
  server_.on_fetch = [&] { std::filesystem::create_directory(target() / "one.bin"); };
  const std::string text = refusal(Errc::io_error);
  EXPECT_TRUE(text.ends_with(kept_)) << text;
  std::filesystem::remove(target() / "one.bin");
  EXPECT_EQ(lines(), (Lines{"one.bin", "two.bin"}));
  EXPECT_EQ(server_.asked, Lines{"all.tar.gz 0"});
}

TEST_F(ArchiveDownloads, WithAWrongChecksumUnpackNothing) {
  server_.files["all.tar.gz"].back() ^= 1;
  EXPECT_NE(refusal(Errc::corrupt_file), "accepted");
  EXPECT_EQ(names(), Lines{});
}

TEST_F(ArchiveDownloads, WithoutAMemberOrWithABadOneLeaveNothing) {
  const std::string one = tar_member("d/one.bin", std::string(700, '1'));
  const std::string two = tar_member("d/two.bin", std::string(700, '2'));
  for (const std::string& members :
       {one, one + one + two, one + tar_member("d/two.bin", "short"),
        one + tar_member("d/two.bin", std::string(700, '2'), '2'), one + two.substr(0, 600),
        one + std::string(512, 'x'), std::string("x")}) {
    serve(members);
    EXPECT_NE(refusal(Errc::corrupt_file), "accepted");
    for (const std::string& name : names()) EXPECT_EQ(name, "all.tar.gz.penstock-part");
  }
}

TEST(KnownDatasets, AreAtAddressesByHttpsAndHaveChecksums) {
  for (const DatasetName name :
       {DatasetName::mnist, DatasetName::fashion_mnist, DatasetName::cifar10}) {
    const KnownDataset& dataset = known_dataset(name);
    EXPECT_EQ(dataset.name, to_string(name));
    EXPECT_TRUE(dataset.url.starts_with("https://") && dataset.url.ends_with("/"));
    for (const KnownFile& file : dataset.files) {
      EXPECT_EQ(file.sha256.size(), 64u);
      EXPECT_GT(file.bytes, 0u);
    }
  }
  EXPECT_EQ(
      penstock::testing::refusal(Errc::invalid_argument, [] { known_dataset(DatasetName::text); }),
      "--download: expected mnist, fashion-mnist or cifar10, got text");
}

}  // namespace
}  // namespace trainer
