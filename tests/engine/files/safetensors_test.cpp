#include "penstock/safetensors.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <span>
#include <vector>

#include "penstock/error.hpp"
#include "penstock/model.hpp"
#include "penstock/output_file.hpp"
#include "tests/support/data_path.hpp"
#include "tests/support/reference_file.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/same_bits.hpp"
#include "tests/support/temporary_directory.hpp"

namespace penstock {
namespace {

using testing::refusal;
using testing::TemporaryDirectory;

/// Appends the bytes of `values` to `bytes`.
template <class Value>
void append_bytes(std::string& bytes, const std::vector<Value>& values) {
  bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Value));
}

/// Writes a file that has this header and these bytes behind it.
void write_safetensors(const std::filesystem::path& path, const std::string& header,
                       const std::string& data) {
  const std::uint64_t size = header.size();
  std::string bytes(reinterpret_cast<const char*>(&size), sizeof size);
  testing::write_file(path, bytes + header + data);
}

std::vector<std::string> names_of(const TensorFile& file) {
  std::vector<std::string> names;
  for (const NamedTensor& named : file.tensors) names.push_back(named.name);
  return names;
}

std::vector<float> numbers_of(const Tensor& tensor) {
  return {tensor.as<float>().begin(), tensor.as<float>().end()};
}

std::vector<NamedTensor> three_tensors() {
  const std::int64_t steps[] = {7, -8};
  return {{"z", Tensor({2, 1}, {1, -2.5f})},
          {"steps", Tensor({2}, std::span<const std::int64_t>(steps))},
          {"a", Tensor({}, {3})}};
}

TEST(Safetensors, ReadsBackWhatItWroteInTheOrderOfTheElements) {
  const TemporaryDirectory directory;
  const std::string path = (directory / "t").string();
  save_safetensors(path, three_tensors(), {{"epoch", "3"}});
  const TensorFile file = load_safetensors(path);
  EXPECT_EQ(names_of(file), (std::vector<std::string>{"steps", "z", "a"}));
  EXPECT_EQ(file.metadata, (std::map<std::string, std::string>{{"epoch", "3"}}));
  for (const auto& [name, tensor] : three_tensors())
    EXPECT_TRUE(testing::same_bits(file.tensor(name), tensor)) << name;
  EXPECT_EQ(directory.entries(), std::set<std::string>{"t"});
}

TEST(Safetensors, AreWrittenToAFileThatTheCallerCommits) {
  const TemporaryDirectory directory;
  const std::string path = (directory / "t").string();
  OutputFile file(path);
  save_safetensors(file, three_tensors());
  EXPECT_TRUE(directory.entries().empty());
  file.commit();
  EXPECT_EQ(load_safetensors(path).tensors.size(), 3U);
}

TEST(Safetensors, OfAnotherProgramAreRead) {
  const auto path = testing::data_path("ops/relu.safetensors");
  const testing::ReferenceFile expected = testing::read_reference(path);
  const TensorFile file = load_safetensors(path.string());
  EXPECT_EQ(file.metadata, expected.metadata);
  ASSERT_EQ(file.tensors.size(), expected.tensors.size());
  for (const auto& [name, tensor] : file.tensors)
    EXPECT_TRUE(testing::same_bits(tensor, expected.tensors.at(name))) << name;
}

const char* const mixed_header = R"({"d":{"dtype":"F64","shape":[2],"data_offsets":[0,16]},)"
                                 R"("b":{"dtype":"BF16","shape":[3],"data_offsets":[16,22]},)"
                                 R"("h":{"dtype":"F16","shape":[1,3],"data_offsets":[22,28]}})";

std::string mixed_data(double second = -1e-3) {
  std::string data;
  append_bytes<double>(data, {0.1, second});
  append_bytes<std::uint16_t>(data, {0x3F80, 0xC040, 0x7F80});
  append_bytes<std::uint16_t>(data, {0x3C00, 0xC100, 0x0001});
  return data;
}

TEST(Safetensors, OfOtherFloatingPointTypesBecomeF32) {
  const TemporaryDirectory directory;
  write_safetensors(directory / "t", mixed_header, mixed_data());
  const TensorFile file = load_safetensors((directory / "t").string());
  EXPECT_EQ(names_of(file), (std::vector<std::string>{"d", "b", "h"}));
  EXPECT_EQ(numbers_of(file.tensor("d")), (std::vector{0.1f, -1e-3f}));
  EXPECT_EQ(numbers_of(file.tensor("b")), (std::vector{1.0f, -3.0f, INFINITY}));
  EXPECT_EQ(numbers_of(file.tensor("h")), (std::vector{1.0f, -2.5f, 0x1p-24f}));
  EXPECT_EQ(file.tensor("h").shape(), (Shape{1, 3}));
}

// The elements are converted a piece at a time.
TEST(Safetensors, OfManyElementsBecomeF32) {
  const TemporaryDirectory directory;
  std::vector<std::uint16_t> halves(200'000);
  for (std::size_t i = 0; i < halves.size(); ++i) halves[i] = static_cast<std::uint16_t>(i % 30000);
  std::string data;
  append_bytes(data, halves);
  write_safetensors(directory / "t",
                    R"({"w":{"dtype":"BF16","shape":[200000],"data_offsets":[0,400000]}})", data);
  const TensorFile file = load_safetensors((directory / "t").string());
  const auto numbers = file.tensor("w").as<float>();
  for (std::size_t i = 0; i < halves.size(); ++i) {
    const std::uint32_t bits = std::uint32_t{halves[i]} << 16;
    ASSERT_EQ(std::memcmp(&numbers[i], &bits, sizeof bits), 0) << i;
  }
}

TEST(Safetensors, ThatF32CannotHoldAreRefused) {
  const TemporaryDirectory directory;
  const std::string path = (directory / "t").string();
  write_safetensors(path, mixed_header, mixed_data(-1e39));
  EXPECT_EQ(refusal(Errc::unsupported, [&] { load_safetensors(path); }),
            "safetensors file \"" + path +
                "\": tensor \"d\": expected numbers that f32 can hold, got -1e+39");
}

TEST(Safetensors, OfAnotherTypeAreRefusedByFileTensorAndType) {
  const TemporaryDirectory directory;
  const std::string path = (directory / "t").string();
  for (const std::string type : {"I16", "F8_E4M3", "U64"}) {
    write_safetensors(path, R"({"w":{"dtype":")" + type + R"(","shape":[1],"data_offsets":[0,8]}})",
                      "12345678");
    EXPECT_EQ(refusal(Errc::unsupported, [&] { load_safetensors(path); }),
              "safetensors file \"" + path +
                  "\": tensor \"w\": expected dtype F32, I64, U8, I32, BOOL, F16, BF16 or F64, "
                  "got \"" +
                  type + '"');
  }
}

TEST(Safetensors, OfIntegersAndTruthValuesAreReadAsTheyAre) {
  const TemporaryDirectory directory;
  const std::string path = (directory / "t").string();
  const std::string header = R"({"i":{"dtype":"I32","shape":[1],"data_offsets":[0,4]},)"
                             R"("u":{"dtype":"U8","shape":[2],"data_offsets":[4,6]},)"
                             R"("b":{"dtype":"BOOL","shape":[2],"data_offsets":[6,8]}})";
  write_safetensors(path, header, std::string("\x05\0\0\0\xff\x07\1\0", 8));
  const TensorFile file = load_safetensors(path);
  EXPECT_EQ(file.tensor("i").as<std::int32_t>()[0], 5);
  EXPECT_EQ(file.tensor("u").as<std::uint8_t>()[0], 255);
  EXPECT_EQ(file.tensor("b").dtype(), DType::boolean);
  EXPECT_TRUE(file.tensor("b").as<bool>()[0]);

  write_safetensors(path, header, std::string("\x05\0\0\0\xff\x07\1\7", 8));
  EXPECT_EQ(refusal(Errc::corrupt_file, [&] { load_safetensors(path); }),
            "safetensors file \"" + path +
                "\": tensor \"b\": expected bytes of 0 and 1, got 7 as element 1");
}

TEST(Safetensors, OfFewerBytesThanTheTypeNeedsAreRefused) {
  const TemporaryDirectory directory;
  const std::string path = (directory / "t").string();
  const auto refused = [&](const std::string& entry, std::size_t bytes) {
    write_safetensors(path, R"({"w":)" + entry + "}", std::string(bytes, 'x'));
    const std::string text = refusal(Errc::corrupt_file, [&] { load_safetensors(path); });
    return text.substr(text.find("tensor \""));
  };
  EXPECT_EQ(refused(R"({"dtype":"F16","shape":[2],"data_offsets":[0,8]})", 8),
            "tensor \"w\": its shape does not fit its data_offsets");
  EXPECT_EQ(refused(R"({"dtype":"BF16","shape":[1],"data_offsets":[0,3]})", 3),
            "tensor \"w\": its shape does not fit its data_offsets");
  EXPECT_EQ(refused(R"({"dtype":"F64","shape":[1],"data_offsets":[4,12]})", 12),
            "tensor \"w\": its data_offsets are misaligned");
}

TEST(Safetensors, ThatAreCutShortAreRefused) {
  const TemporaryDirectory directory;
  const std::string path = (directory / "t").string();
  write_safetensors(path, mixed_header, mixed_data());
  const std::string whole = testing::file_content(path);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    testing::write_file(path, whole.substr(0, size));
    EXPECT_NE(refusal(Errc::corrupt_file, [&] { load_safetensors(path); }), "accepted") << size;
  }
  EXPECT_EQ(refusal(Errc::io_error, [&] { load_safetensors(path + "2"); }),
            "safetensors file \"" + path + "2\": no such file");
}

TEST(Safetensors, ThatCannotBeWrittenLeaveTheOldFile) {
  const TemporaryDirectory directory;
  const std::string path = (directory / "t").string();
  testing::write_file(path, "before");
  const Tensor one({1}, {1});
  const auto refused = [&](const std::vector<NamedTensor>& tensors,
                           const std::map<std::string, std::string>& metadata = {}) {
    return refusal(Errc::invalid_argument, [&] { save_safetensors(path, tensors, metadata); });
  };
  EXPECT_EQ(refused({{"w", one}, {"v", one}, {"w", one}}), "tensor \"w\" is there twice");
  EXPECT_EQ(refused({{"w", Tensor()}}), "tensor \"w\": expected elements, got an empty tensor");
  EXPECT_EQ(refused({{"__metadata__", one}}), "no tensor can be named \"__metadata__\"");
  EXPECT_NE(refused({{"\xff", one}}), "accepted");
  EXPECT_NE(refused({{"w", one}}, {{"key", "\xff"}}), "accepted");
  EXPECT_EQ(testing::file_content(path), "before");
  EXPECT_EQ(directory.entries(), std::set<std::string>{"t"});
}

TEST(Safetensors, SayWhichTensorsTheyHave) {
  const TensorFile file{.tensors = three_tensors()};
  EXPECT_EQ(refusal(Errc::invalid_argument, [&] { file.tensor("step"); }),
            "there is no tensor named \"step\"; did you mean \"steps\"?");
}

TEST(Safetensors, OfOtherFloatingPointTypesAreWeightsOfAModel) {
  const TemporaryDirectory directory;
  Model model("m");
  model.linear("fc", model.input("x", {2}), 1, false);
  std::string data;
  append_bytes<std::uint16_t>(data, {0x3E00, 0xBC00});
  write_safetensors(directory / "w",
                    R"({"fc.weight":{"dtype":"F16","shape":[1,2],"data_offsets":[0,4]}})", data);
  model.load_weights((directory / "w").string());
  EXPECT_EQ(numbers_of(model.weight("fc.weight")), (std::vector{1.5f, -1.0f}));
}

}  // namespace
}  // namespace penstock
