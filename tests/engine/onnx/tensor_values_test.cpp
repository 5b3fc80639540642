#include "engine/onnx/format/tensor_values.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <string>

#include "engine/onnx/format/read_onnx_file.hpp"
#include "penstock/onnx.hpp"
#include "tests/support/onnx_bytes.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/same_bits.hpp"
#include "tests/support/temporary_directory.hpp"

namespace penstock::testing {
namespace {

template <class Element>
std::string raw_of(const std::vector<Element>& elements) {
  return {reinterpret_cast<const char*>(elements.data()), elements.size() * sizeof(Element)};
}

/// Returns the elements of a tensor [2] whose bytes are `raw`.
Tensor pair_of(OnnxType type, const std::string& raw) {
  const std::string bytes = wire_integer(1, 2) + wire_integer(2, static_cast<int>(type)) +
                            wire_bytes(8, "pair") + wire_bytes(9, raw);
  return values_of(read_onnx_tensor(std::as_bytes(std::span(bytes))), {});
}

TEST(TensorValues, KeepTheElementsOfEveryTypeOfPenstock) {
  const std::vector<float> floats{1.5f, -2};
  const std::vector<std::int64_t> integers{1LL << 40, -7};
  const std::array<bool, 2> flags{true, false};
  for (const Tensor& tensor : {Tensor({2}, std::span<const float>(floats)),
                               Tensor({2}, std::span<const std::int64_t>(integers)),
                               Tensor({2}, std::span<const bool>(flags))}) {
    const std::string bytes = onnx_tensor("x", tensor);
    const OnnxTensor read = read_onnx_tensor(std::as_bytes(std::span(bytes)));
    EXPECT_EQ(read.name, "x");
    EXPECT_TRUE(same_bits(values_of(read, {}), tensor));
  }
}

TEST(TensorValues, WidenIntegersAndNarrowFloats) {
  EXPECT_EQ(pair_of(OnnxType::i8, raw_of<std::int8_t>({-3, 100})).as<std::int32_t>()[0], -3);
  EXPECT_EQ(pair_of(OnnxType::u16, raw_of<std::uint16_t>({65535, 1})).as<std::int32_t>()[0], 65535);
  EXPECT_EQ(pair_of(OnnxType::u32, raw_of<std::uint32_t>({4000000000, 1})).as<std::int64_t>()[0],
            4000000000);
  EXPECT_EQ(pair_of(OnnxType::f64, raw_of<double>({0.1, 2})).as<float>()[0], 0.1f);
  EXPECT_EQ(pair_of(OnnxType::f16, raw_of<std::uint16_t>({0x3c00, 0xc000})).as<float>()[1], -2);
}

TEST(TensorValues, RefuseNumbersThatATypeOfHalfTheBytesDoesNotHold) {
  EXPECT_EQ(refusal(Errc::invalid_argument,
                    [] {
                      raw_floats(std::vector<float>{65519, -0x1p100f}, OnnxType::f16);
                    }),
            "expected numbers that float16 has, got -1.2676506002282294e+30");
  EXPECT_EQ(refusal(Errc::invalid_argument,
                    [] { raw_floats(std::vector<float>{0x1.fffffep127f}, OnnxType::bf16); }),
            "expected numbers that bfloat16 has, got 3.4028234663852886e+38");
}

TEST(TensorValues, RefuseNumbersThatNoTypeHolds) {
  EXPECT_EQ(refusal(Errc::unsupported,
                    [] {
                      pair_of(OnnxType::u64, raw_of<std::uint64_t>({~0ull, 1}));
                    }),
            "tensor \"pair\": an element is too large for int64");
  EXPECT_NE(refusal(Errc::unsupported,
                    [] {
                      pair_of(OnnxType::f64, raw_of<double>({1e300, 1}));
                    }),
            "accepted");
  EXPECT_EQ(refusal(Errc::unsupported, [] { pair_of(OnnxType::string, "ab"); }),
            "tensor \"pair\": Penstock has no tensors of string");
}

TEST(TensorValues, RefuseElementsThatAreTooFewOrTooMany) {
  EXPECT_EQ(refusal(Errc::corrupt_file, [] { pair_of(OnnxType::f32, "1234"); }),
            "tensor \"pair\": expected 8 bytes for the elements of float[2], got 4");
  EXPECT_NE(refusal(Errc::corrupt_file, [] { pair_of(OnnxType::f32, std::string(12, 'x')); }),
            "accepted");
}

TEST(TensorValues, RefuseShapesThatAreTooLarge) {
  const auto read = [](std::vector<std::int64_t> dims) {
    std::string bytes = wire_integer(2, 1);
    for (const std::int64_t size : dims) bytes += wire_integer(1, size);
    values_of(read_onnx_tensor(std::as_bytes(std::span(bytes))), {});
  };
  EXPECT_NE(refusal(Errc::corrupt_file, [&] { read({1LL << 40, 1LL << 40}); }), "accepted");
  EXPECT_NE(refusal(Errc::corrupt_file, [&] { read({-1}); }), "accepted");
  EXPECT_NE(refusal(Errc::corrupt_file, [&] { read({1LL << 40}); }), "accepted");
  EXPECT_NE(refusal(Errc::unsupported, [&] { read(std::vector<std::int64_t>(9, 1)); }), "accepted");
}

/// Returns the bytes of a tensor [2] of f32 whose elements are in another file, as `entries` say.
std::string bytes_of_external(const std::vector<std::pair<std::string, std::string>>& entries) {
  std::string bytes = wire_integer(1, 2) + wire_integer(2, 1) + wire_integer(14, 1);
  for (const auto& [key, value] : entries)
    bytes += wire_bytes(13, wire_bytes(1, key) + wire_bytes(2, value));
  return bytes;
}

/// Returns that tensor.
Tensor external(const std::vector<std::pair<std::string, std::string>>& entries,
                const std::filesystem::path& directory) {
  const std::string bytes = bytes_of_external(entries);
  return values_of(read_onnx_tensor(std::as_bytes(std::span(bytes))), directory);
}

TEST(TensorValues, ComeFromAnotherFileInTheDirectory) {
  const TemporaryDirectory directory;
  std::filesystem::create_directory(directory / "inner");
  write_file(directory / "inner/weights", raw_of<float>({9, 1.5f, -2}));
  const Tensor tensor =
      external({{"location", "inner/weights"}, {"offset", "4"}, {"length", "8"}}, directory.path());
  EXPECT_EQ(tensor.as<float>()[0], 1.5f);
  EXPECT_EQ(tensor.as<float>()[1], -2);
}

TEST(TensorValues, ComeFromAnotherFileBesideThatOfTheTensor) {
  const TemporaryDirectory directory;
  write_file(directory / "weights", raw_of<float>({1.5f, -2}));
  write_file(directory / "input_0.pb", bytes_of_external({{"location", "weights"}}));
  EXPECT_EQ(load_onnx_tensor((directory / "input_0.pb").string()).tensor.as<float>()[1], -2);
}

TEST(TensorValues, OfATensorsFileComeFromItsDirectoryAlone) {
  const TemporaryDirectory directory;
  std::filesystem::create_directory(directory / "tensors");
  write_file(directory / "weights", raw_of<float>({1.5f, -2}));
  const auto refusal_of = [&](Errc code, const std::string& location) {
    const std::filesystem::path path = directory / "tensors" / "input_0.pb";
    write_file(path, bytes_of_external({{"location", location}}));
    return refusal(code, [&] { load_onnx_tensor(path.string()); });
  };
  const std::string outside = refusal_of(Errc::corrupt_file, "../weights");
  EXPECT_NE(outside.find("expected its elements in a file of the same directory or of one within "
                         "it, got \"../weights\""),
            std::string::npos)
      << outside;
  EXPECT_NE(refusal_of(Errc::io_error, "weights"), "accepted");
}

TEST(TensorValues, RefuseOtherFilesOutsideOfTheDirectory) {
  const TemporaryDirectory directory;
  std::filesystem::create_directory(directory / "models");
  write_file(directory / "secret", raw_of<float>({1, 2}));
  std::filesystem::create_symlink(directory / "secret", directory / "models/link");
  std::filesystem::create_directory_symlink(directory.path(), directory / "models/up");
  const std::filesystem::path models = directory / "models";
  const std::vector<std::string> locations{"../secret", "inner/../../secret", "up/secret", "",
                                           (directory / "secret").string()};
  for (const std::string& location : locations)
    EXPECT_NE(refusal(Errc::corrupt_file,
                      [&] {
                        external({{"location", location}}, models);
                      }),
              "accepted")
        << location;
  EXPECT_NE(refusal(Errc::io_error, [&] { external({{"location", "link"}}, models); }), "accepted");
  EXPECT_NE(refusal(Errc::io_error, [&] { external({{"location", "none"}}, models); }), "accepted");
}

TEST(TensorValues, RefuseOtherFilesThatAreTooShort) {
  const TemporaryDirectory directory;
  write_file(directory / "weights", raw_of<float>({1, 2}));
  for (const auto& [offset, length] : {std::pair{"4", "8"}, std::pair{"0", "4"},
                                       std::pair{"18446744073709551615", "8"}, std::pair{"x", "8"}})
    EXPECT_NE(refusal(Errc::corrupt_file,
                      [&] {
                        external({{"location", "weights"}, {"offset", offset}, {"length", length}},
                                 directory.path());
                      }),
              "accepted")
        << offset << ", " << length;
}

}  // namespace
}  // namespace penstock::testing
