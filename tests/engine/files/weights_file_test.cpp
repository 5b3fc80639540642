#include "engine/files/weights_file.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <span>

#include "penstock/error.hpp"
#include "penstock/output_file.hpp"
#include "tests/engine/files/byte_reader.hpp"
#include "tests/support/data_path.hpp"
#include "tests/support/reference_file.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/temporary_directory.hpp"

namespace penstock {
namespace {

using testing::file_content;
using testing::reader_of;
using testing::TemporaryDirectory;
using testing::write_file;

/// Returns a file's bytes: the header's size, the header, and `data_bytes` bytes 0, 1, 2, ...
std::string file_of(const std::string& header, std::size_t data_bytes) {
  const std::uint64_t size = header.size();
  std::string bytes(sizeof size, '\0');
  std::memcpy(bytes.data(), &size, sizeof size);
  bytes += header;
  for (std::size_t i = 0; i < data_bytes; ++i) bytes += static_cast<char>(i);
  return bytes;
}

/// Reads `bytes` as a file that is said to have `claimed` bytes.
WeightsFile read_as(const std::string& bytes, std::size_t claimed, const HeaderCheck& check = {}) {
  std::size_t taken = 0;
  return read_weights(reader_of(bytes, taken), claimed, check);
}

WeightsFile read(const std::string& bytes) {
  return read_as(bytes, bytes.size());
}

bool same(const WeightsFile& a, const WeightsFile& b) {
  const auto same_tensor = [](const auto& x, const auto& y) {
    return x.first == y.first && x.second.dtype() == y.second.dtype() &&
           x.second.shape() == y.second.shape() &&
           std::memcmp(x.second.raw(), y.second.raw(), x.second.bytes()) == 0;
  };
  return a.metadata == b.metadata && std::equal(a.tensors.begin(), a.tensors.end(),
                                                b.tensors.begin(), b.tensors.end(), same_tensor);
}

WeightsFile example() {
  const std::int64_t steps[] = {7, -8};
  WeightsFile weights;
  weights.tensors.emplace("a.bias", Tensor(Shape{3}, {1, 2, 3}));
  weights.tensors.emplace("a.weight", Tensor(Shape{2, 2}, {4, 5, 6, -7.5f}));
  weights.tensors.emplace("empty", Tensor::zeros(DType::f32, Shape{0, 4}));
  weights.tensors.emplace("scalar", Tensor(Shape{}, {0.5f}));
  weights.tensors.emplace("z.steps", Tensor(Shape{2}, std::span<const std::int64_t>(steps)));
  weights.metadata = {{"model", "example"}, {"quote \"", "line\n"}};
  return weights;
}

std::string written(const WeightsFile& weights) {
  TemporaryDirectory directory;
  write_weights_file(directory / "w", weights);
  return file_content(directory / "w");
}

TEST(WeightsFile, ReadsBackWhatItWrote) {
  TemporaryDirectory directory;
  write_weights_file(directory / "w", example());
  EXPECT_TRUE(same(read_weights_file(directory / "w"), example()));
  EXPECT_EQ(directory.entries(), std::set<std::string>{"w"});
}

TEST(WeightsFile, ReadsBackElementsOfEveryType) {
  WeightsFile weights = example();
  weights.tensors.emplace("bytes", Tensor({3}, std::vector<std::uint8_t>{0, 7, 255}));
  weights.tensors.emplace("mask", Tensor({5}, std::array{true, false, true, true, false}));
  weights.tensors.emplace("numbers", Tensor({2}, std::vector<std::int32_t>{-1, 1 << 30}));
  const std::string bytes = written(weights);
  EXPECT_TRUE(same(read(bytes), weights));
  for (const char* const type : {"\"U8\"", "\"BOOL\"", "\"I32\""})
    EXPECT_NE(bytes.find(type), std::string::npos) << type;
}

TEST(WeightsFile, ReadsBackNothing) {
  EXPECT_TRUE(same(read(written({})), {}));
}

TEST(WeightsFile, WritesThePublicFormat) {
  WeightsFile weights;
  weights.tensors.emplace("w", Tensor(Shape{1, 2}, {1, -2}));
  const std::string header = R"({"w":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]}})";
  ASSERT_EQ(header.size() % 8, 0u);
  const std::string size{static_cast<char>(header.size()), 0, 0, 0, 0, 0, 0, 0};
  const std::string elements{0, 0, '\x80', '\x3f', 0, 0, 0, '\xc0'};
  EXPECT_EQ(written(weights), size + header + elements);
}

TEST(WeightsFile, AlignsTheDataAndEveryTensor) {
  const std::string bytes = written(example());
  std::uint64_t header_size = 0;
  std::memcpy(&header_size, bytes.data(), sizeof header_size);
  EXPECT_EQ(header_size % 8, 0u);
  const std::string header = bytes.substr(8, header_size);
  // Elements of i64 come first, because behind three floats they would be misaligned.
  EXPECT_NE(header.find(R"("z.steps":{"dtype":"I64","shape":[2],"data_offsets":[0,16]})"),
            std::string::npos);
  EXPECT_NE(header.find(R"("a.bias":{"dtype":"F32","shape":[3],"data_offsets":[16,28]})"),
            std::string::npos);
  const std::int64_t steps[] = {7, -8};
  EXPECT_EQ(std::memcmp(bytes.data() + 8 + header_size, steps, sizeof steps), 0);
}

TEST(WeightsFile, WritesTheSameBytesForTheSameWeights) {
  EXPECT_EQ(written(example()), written(example()));
}

TEST(WeightsFile, ReadsAFileThatAnotherProgramWrote) {
  const auto path = testing::data_path("ops/relu.safetensors");
  const testing::ReferenceFile expected = testing::read_reference(path);
  EXPECT_TRUE(same(read_weights_file(path), {expected.tensors, expected.metadata}));
}

TEST(WeightsFile, KeepsTheOldFileWhenWeightsCannotBeWritten) {
  TemporaryDirectory directory;
  write_file(directory / "w", "before");
  for (const char* name : {"__metadata__", "\xff"}) {
    WeightsFile weights;
    weights.tensors.emplace(name, Tensor(Shape{1}, {1}));
    EXPECT_THROW(write_weights_file(directory / "w", weights), Error);
  }
  EXPECT_EQ(file_content(directory / "w"), "before");
  EXPECT_EQ(directory.entries(), std::set<std::string>{"w"});
}

struct Broken {
  std::string header;
  std::size_t data_bytes;
  std::string text;
  Errc code = Errc::corrupt_file;
};

std::string entry(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return R"({"dtype":)" + dtype + R"(,"shape":)" + shape + R"(,"data_offsets":)" + offsets + "}";
}

std::string one(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return R"({"w":)" + entry(dtype, shape, offsets) + "}";
}

std::string two(const std::string& offsets, const std::string& others) {
  return R"({"a":)" + entry(R"("F32")", "[1]", offsets) + R"(,"b":)" +
         entry(R"("F32")", "[1]", others) + "}";
}

std::string twice(const std::string& name) {
  return "{\"" + name + "\":" + entry(R"("F32")", "[1]", "[0,4]") + ",\"" + name +
         "\":" + entry(R"("F32")", "[1]", "[4,8]") + "}";
}

const std::string f32 = R"("F32")";

const Broken broken[] = {
    {"", 0, "header: not valid JSON near byte 1: expected a value"},
    {"{", 0, "header: not valid JSON near byte 2: expected a key in quotes"},
    {"{}}", 0, "header: not valid JSON near byte 3: expected nothing behind the value"},
    {"7", 0, "header: not a JSON object"},
    {"[]", 0, "header: a list that is neither shape nor offsets"},
    {std::string(1000000, '['), 0, "header: a list that is neither shape nor offsets"},
    {R"({"w":{"shape":[[)" + std::string(1000000, '['), 0,
     "header: a list that is neither shape nor offsets"},
    {R"({"w":{"dtype":{}}})", 0, "header: an object inside a tensor's entry"},
    {one(f32, "[1,1,1,1,1,1,1,1,1]", "[0,4]"), 4, "header: a list of more than 8 numbers"},
    {one(f32, "[1e999]", "[0,4]"), 4,
     R"(tensor "w": a number in its shape or offsets is not a size)"},
    {"{\"\xff\":1}", 0, "header: not valid JSON near byte 3: expected UTF-8"},
    {twice("w"), 8, R"(header: "w" is there twice)"},
    {R"({"__metadata__":{},"__metadata__":{}})", 0, R"(header: "__metadata__" is there twice)"},
    {R"({"__metadata__":{"a":"","a":""}})", 0, R"(header: "a" is there twice)"},
    {R"({"w":{"dtype":"F32","dtype":"F32"}})", 0, R"(header: "dtype" is there twice)"},
    {R"({"__metadata__":[]})", 0, "header: a list that is neither shape nor offsets"},
    {R"({"__metadata__":1})", 0, "header: __metadata__ is not an object"},
    {R"({"__metadata__":{"a":1}})", 0, R"(header: __metadata__: "a" is not a text)"},
    {R"({"w":1})", 0, R"(tensor "w": expected dtype, shape and data_offsets)"},
    {R"({"w":{}})", 0, R"(tensor "w": expected dtype, shape and data_offsets)"},
    {R"({"a\nb\u0007":1})", 0, R"(tensor "a?b?": expected dtype, shape and data_offsets)"},
    {"{\"" + std::string(5000, 'x') + "\":1}", 0,
     "tensor \"" + std::string(100, 'x') + "...\": expected dtype, shape and data_offsets"},
    {one("7", "[1]", "[0,4]"), 4, R"(tensor "w": its dtype is not a text)"},
    {one(R"("I16")", "[2]", "[0,4]"), 4,
     R"(tensor "w": expected dtype F32, I64, U8, I32, BOOL, F16, BF16 or F64, got "I16")",
     Errc::unsupported},
    {one(f32, "1", "[0,4]"), 4, R"(tensor "w": its shape or offsets are not a list)"},
    {one(f32, "[-1]", "[0,4]"), 4, R"(tensor "w": a number in its shape or offsets is not a size)"},
    {one(f32, "[1.0]", "[0,4]"), 4,
     R"(tensor "w": a number in its shape or offsets is not a size)"},
    {one(f32, "[36893488147419103232]", "[0,4]"), 4,
     R"(tensor "w": a number in its shape or offsets is not a size)"},
    {one(f32, "[18446744073709551615]", "[0,4]"), 4, R"(tensor "w": its shape is too large)"},
    {one(f32, "[4294967296,4294967296]", "[0,0]"), 0, R"(tensor "w": its shape is too large)"},
    {one(f32, "[4611686018427387905]", "[0,4]"), 4, R"(tensor "w": its shape is too large)"},
    {one(f32, "[2]", "[0,4]"), 4, R"(tensor "w": its shape does not fit its data_offsets)"},
    {one(f32, "[1]", "[0,6]"), 6, R"(tensor "w": its shape does not fit its data_offsets)"},
    {one(f32, "[1]", "[0]"), 4, R"(tensor "w": its data_offsets are no begin and end)"},
    {one(f32, "[1]", "[4,0]"), 4, R"(tensor "w": its data_offsets are no begin and end)"},
    {one(f32, "[2]", "[0,8]"), 4, R"(tensor "w": its data_offsets end behind the end of the file)"},
    {one(f32, "[1]", "[1000000000000000000,1000000000000000004]"), 4,
     R"(tensor "w": its data_offsets end behind the end of the file)"},
    {one(f32, "[1]", "[2,6]"), 6, R"(tensor "w": its data_offsets are misaligned)"},
    {one(f32, "[1]", "[4,8]"), 8, R"(tensor "w": the bytes before it belong to no tensor)"},
    {two("[0,4]", "[8,12]"), 12, R"(tensor "b": the bytes before it belong to no tensor)"},
    {two("[0,4]", "[0,4]"), 4, R"(tensor "b": its bytes overlap another tensor's)"},
    {one(f32, "[1]", "[0,4]"), 7, "the last 3 bytes belong to no tensor"},
    {"{}", 1, "the last 1 bytes belong to no tensor"},
};

TEST(WeightsFile, RefusesABrokenFileByFileTensorAndReason) {
  TemporaryDirectory directory;
  const auto path = directory / "w";
  for (const auto& [header, data_bytes, text, code] : broken) {
    SCOPED_TRACE(header.substr(0, 200));
    write_file(path, file_of(header, data_bytes));
    try {
      read_weights_file(path);
      ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code);
      EXPECT_EQ(error.what(), "weights file \"" + path.string() + "\": " + text);
    }
  }
}

TEST(WeightsFile, RefusesAHeaderLargerThanTheFileBeforeItAllocates) {
  const std::string eight_bytes("\x00\x00\x64\xa7\xb3\xb6\xe0\x0d", 8);  // The number is 10^18.
  for (const std::string& bytes : {eight_bytes, eight_bytes + std::string(100, ' '),
                                   std::string(8, '\xff'), std::string("\x01") + std::string(7, 0)})
    try {
      read(bytes);
      ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Errc::corrupt_file);
      EXPECT_EQ(std::string(error.what()).find("expected a header of at most"), 0u);
    }
}

TEST(WeightsFile, SaysWhatToDoAboutAFileOfAnotherKind) {
  const std::vector<std::pair<std::string, std::string>> files{
      {std::string("PK\3\4\0\0\0\0", 8), "torch.save() or numpy.savez(): write the tensors with"},
      {std::string("\x80\2\x8a\nl\xfc\x9c"
                   "F",
                   8),
       "torch.save() or numpy.savez()"},
      {"\x89HDF\r\n\x1a\n", "this is an HDF5 file: write the tensors with safetensors.numpy"},
      {"[train]\n",
       "this looks like a text file, and a weights file is in the safetensors format"}};
  for (const auto& [begin, said] : files) {
    const std::string text =
        testing::refusal(Errc::corrupt_file, [&] { read(begin + std::string(99, 0)); });
    EXPECT_NE(text.find(said), std::string::npos) << text;
  }
}

TEST(WeightsFile, RefusesWhatIsNoReadableFile) {
  TemporaryDirectory directory;
  for (const auto& path : {directory / "missing", directory.path(), std::filesystem::path(),
                           std::filesystem::path("/dev/zero")})
    try {
      read_weights_file(path);
      ADD_FAILURE() << "accepted " << path;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Errc::io_error);
      EXPECT_EQ(std::string(error.what()).find("weights file \"" + path.string() + "\": "), 0u);
    }
}

TEST(WeightsFile, RefusesAFileThatShrankWhileItWasRead) {
  const std::string bytes = written(example());
  EXPECT_THROW(read_as(bytes.substr(0, bytes.size() - 1), bytes.size()), Error);
}

// The file has a header and a hole. The header claims more bytes than any machine has.
TEST(WeightsFile, LooksAtTheHeaderBeforeItMakesRoomForTensors) {
  TemporaryDirectory directory;
  const std::uint64_t elements = std::uint64_t{1} << 38;
  write_file(directory / "w", file_of(one(f32, "[" + std::to_string(elements) + "]",
                                          "[0," + std::to_string(elements * 4) + "]"),
                                      0));
  std::filesystem::resize_file(directory / "w",
                               std::filesystem::file_size(directory / "w") + elements * 4);
  const auto check = [](const WeightsHeader& header) {
    throw Error(Errc::shape_mismatch, "got " + to_string(header.entries.at(0).shape));
  };
  EXPECT_EQ(testing::refusal(Errc::shape_mismatch,
                             [&] { read_weights_file(directory / "w", "state", check); }),
            "state \"" + (directory / "w").string() + "\": got [274877906944]");
}

TEST(WeightsFile, ReadsNoDataOfAFileThatIsNotWhatWasExpected) {
  const std::string bytes = written(example());
  std::uint64_t header_size = 0;
  std::memcpy(&header_size, bytes.data(), sizeof header_size);
  std::size_t taken = 0;
  const auto refuse = [](const WeightsHeader&) { throw Error(Errc::invalid_data, "no"); };
  EXPECT_THROW(read_weights(reader_of(bytes, taken), bytes.size(), refuse), Error);
  EXPECT_EQ(taken, sizeof header_size + header_size);
}

TEST(WeightsFile, ReadsNoHeaderBehindAHoleInIt) {
  const std::uint64_t size = 90'000'000;
  std::string sparse(reinterpret_cast<const char*>(&size), sizeof size);
  sparse += '{' + std::string(10'000'000, '\0');
  std::size_t taken = 0;
  EXPECT_EQ(testing::refusal(Errc::corrupt_file,
                             [&] { read_weights(reader_of(sparse, taken), size + 8); }),
            "header: not valid JSON near byte 2: a NUL byte");
  EXPECT_LT(taken, 2'000'000U);
}

TEST(WeightsFile, IsNamedInOneLineWhateverItIsCalled) {
  TemporaryDirectory directory;
  const std::string name = directory.path().string() + "/line\nfeed \x1b[1m";
  for (const char* content : {"", "no weights"}) {
    write_file(name, content);
    try {
      read_weights_file(name);
      ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()).find_first_of("\n\x1b"), std::string::npos);
      EXPECT_NE(std::string(error.what()).find("line?feed ?[1m"), std::string::npos);
    }
  }
}

TEST(WeightsFile, RefusesEveryTruncation) {
  const std::string bytes = written(example());
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_THROW(read(bytes.substr(0, size)), Error) << size;
}

/// Returns `bytes` with up to four random changes: bytes are replaced, inserted, removed, or copied
/// over others.
std::string mutated(std::string bytes, std::mt19937& random) {
  for (unsigned changes = 1 + random() % 4; changes > 0 && !bytes.empty(); --changes) {
    const std::size_t at = random() % bytes.size(), from = random() % bytes.size();
    switch (random() % 5) {
      case 0:
        bytes[at] = static_cast<char>(random());
        break;
      case 1:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << random() % 8));
        break;
      case 2:
        bytes.insert(at, 1, bytes[from]);
        break;
      case 3:
        bytes.erase(at, 1 + random() % 4);
        break;
      default:
        bytes.replace(at, 1 + random() % 8, bytes.substr(from, random() % 8));
    }
  }
  return bytes;
}

TEST(WeightsFile, EitherReadsOrRefusesWhateverTheBytes) {
  const std::string original = written(example());
  std::mt19937 random(1);
  int accepted = 0, refused = 0;
  for (int round = 0; round < 20000; ++round) {
    const std::string bytes = mutated(original, random);
    try {
      const WeightsFile weights = read(bytes);
      ++accepted;
      // Only one in 50 is written again, because writing syncs a file each time.
      EXPECT_TRUE(accepted % 50 != 0 || same(read(written(weights)), weights));
    } catch (const Error& error) {
      ++refused;
      EXPECT_TRUE(error.code() == Errc::corrupt_file || error.code() == Errc::unsupported)
          << error.what();
    }
  }
  EXPECT_GT(accepted, 100);
  EXPECT_GT(refused, 10000);
}

}  // namespace
}  // namespace penstock
