#include "penstock/npy.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <span>
#include <vector>

#include "penstock/error.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/same_bits.hpp"
#include "tests/support/temporary_directory.hpp"

namespace penstock {
namespace {

using testing::refusal;

/// Returns a file of format version `version` with this header and these bytes behind it.
std::string npy_bytes(const std::string& header, const std::string& data, int version = 1) {
  std::string bytes("\x93NUMPY");
  bytes += {static_cast<char>(version), '\0'};
  const auto size = static_cast<std::uint32_t>(header.size());
  bytes.append(reinterpret_cast<const char*>(&size), version == 1 ? 2 : 4);
  return bytes + header + data;
}

template <class Value>
std::string npy_numbers(const std::vector<Value>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Value)};
}

std::string npy_header_of(const std::string& type, const std::string& shape,
                          const std::string& order = "False") {
  return "{'descr': '" + type + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
}

class NpyFiles : public ::testing::Test {
 protected:
  std::string path() const { return (directory_ / "a.npy").string(); }
  Tensor load(const std::string& bytes) {
    testing::write_file(path(), bytes);
    return load_npy(path());
  }
  template <class Number>
  std::vector<Number> numbers(const std::string& bytes) {
    const Tensor tensor = load(bytes);
    return {tensor.as<Number>().begin(), tensor.as<Number>().end()};
  }
  /// Returns the text behind the name of the file.
  std::string refused(Errc code, const std::string& bytes) {
    const std::string text = refusal(code, [&] { load(bytes); });
    const std::string name = "NumPy file \"" + path() + "\": ";
    return text.starts_with(name) ? text.substr(name.size()) : text;
  }

  testing::TemporaryDirectory directory_;
};

TEST_F(NpyFiles, AreReadAsTheyWereWritten) {
  const std::array<std::uint8_t, 3> u8{0, 128, 255};
  const std::array<std::int32_t, 2> i32{-7, 1 << 30};
  const std::array<std::int64_t, 2> i64{-7, std::int64_t{1} << 60};
  const std::array<bool, 2> truths{true, false};
  for (const Tensor& tensor :
       {Tensor({2, 3}, {1, -2.5f, 3, 4, INFINITY, 6}), Tensor({}, {7}),
        Tensor::zeros(DType::f32, {0, 4}), Tensor({3, 1}, std::span<const std::uint8_t>(u8)),
        Tensor({2}, std::span<const std::int32_t>(i32)),
        Tensor({1, 2}, std::span<const std::int64_t>(i64)),
        Tensor({2}, std::span<const bool>(truths)),
        Tensor::zeros(DType::u8, {1, 2, 1, 2, 1, 2, 1, 2})}) {
    save_npy(path(), tensor);
    EXPECT_TRUE(testing::same_bits(load_npy(path()), tensor)) << to_string(tensor.shape());
  }
  EXPECT_EQ(directory_.entries(), std::set<std::string>{"a.npy"});
}

// This is the file that numpy.save() of NumPy 1.24 writes for numpy.float32([[1, 2, 3]]), without
// the 12 bytes of the elements.
TEST_F(NpyFiles, HaveTheBytesOfNumPysOwn) {
  save_npy(path(), Tensor({1, 3}, {1, 2, 3}));
  std::string expected("\x93NUMPY\x01\x00v\x00", 10);
  expected += "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 3), }";
  expected.resize(127, ' ');
  expected += '\n' + npy_numbers<float>({1, 2, 3});
  EXPECT_EQ(testing::file_content(path()), expected);
}

TEST_F(NpyFiles, OfEveryVersionAreRead) {
  for (const int version : {1, 2, 3})
    EXPECT_EQ(numbers<float>(
                  npy_bytes(npy_header_of("<f4", "(2,)"), npy_numbers<float>({3, 4}), version)),
              (std::vector<float>{3, 4}));
  EXPECT_EQ(refused(Errc::unsupported, npy_bytes(npy_header_of("<f4", "(0,)"), "", 4)),
            "expected format version 1, 2 or 3, got 4");
}

TEST_F(NpyFiles, MayHaveTheEntriesOfTheHeaderInAnyOrderAndSpelling) {
  const std::string header = R"({"shape":(2 , 1),"fortran_order" : False,  "descr":"<f4"})";
  EXPECT_EQ(load(npy_bytes(header, npy_numbers<float>({3, 4}))).shape(), (Shape{2, 1}));
}

// The array is numpy.arange(24).reshape(2, 3, 4), whose element [i,j,k] is 12i + 4j + k.
TEST_F(NpyFiles, InFortranOrderAreReadInCOrder) {
  std::vector<std::int32_t> fortran, c;
  for (int k = 0; k < 4; ++k)
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i < 2; ++i) fortran.push_back(12 * i + 4 * j + k);
  for (int i = 0; i < 24; ++i) c.push_back(i);
  const std::string file =
      npy_bytes(npy_header_of("<i4", "(2, 3, 4)", "True"), npy_numbers(fortran));
  EXPECT_EQ(numbers<std::int32_t>(file), c);
  EXPECT_EQ(load(file).shape(), (Shape{2, 3, 4}));
  EXPECT_EQ(
      numbers<std::int32_t>(npy_bytes(npy_header_of("<i4", "(2, 12)", "True"), npy_numbers(c)))[1],
      2);
  EXPECT_EQ(numbers<std::int32_t>(npy_bytes(npy_header_of("<i4", "(24,)", "True"), npy_numbers(c))),
            c);
}

TEST_F(NpyFiles, OfOtherFloatingPointTypesBecomeF32) {
  EXPECT_EQ(
      numbers<float>(npy_bytes(npy_header_of("<f8", "(2,)"), npy_numbers<double>({0.1, -1e-3}))),
      (std::vector{0.1f, -1e-3f}));
  EXPECT_EQ(numbers<float>(npy_bytes(npy_header_of("<f2", "(3,)"),
                                     npy_numbers<std::uint16_t>({0x3C00, 0xC100, 0x0001}))),
            (std::vector{1.0f, -2.5f, 0x1p-24f}));
  EXPECT_EQ(refused(Errc::unsupported,
                    npy_bytes(npy_header_of("<f8", "(2,)"), npy_numbers<double>({1, -1e39}))),
            "expected numbers that f32 can hold, got -1e+39");
}

TEST_F(NpyFiles, OfOtherIntegersBecomeWiderOnes) {
  EXPECT_EQ(numbers<std::int32_t>(npy_bytes(npy_header_of("|i1", "(2,)"), "\x80\x7f")),
            (std::vector{-128, 127}));
  EXPECT_EQ(numbers<std::int32_t>(
                npy_bytes(npy_header_of("<i2", "(1,)"), npy_numbers<std::int16_t>({-32768}))),
            (std::vector{-32768}));
  EXPECT_EQ(numbers<std::int32_t>(
                npy_bytes(npy_header_of("<u2", "(1,)"), npy_numbers<std::uint16_t>({65535}))),
            (std::vector{65535}));
  EXPECT_EQ(numbers<std::int64_t>(
                npy_bytes(npy_header_of("<u4", "(1,)"), npy_numbers<std::uint32_t>({4294967295u}))),
            (std::vector<std::int64_t>{4294967295}));
  const std::uint64_t largest = (std::uint64_t{1} << 63) - 1;
  EXPECT_EQ(numbers<std::int64_t>(
                npy_bytes(npy_header_of("<u8", "(1,)"), npy_numbers<std::uint64_t>({largest}))),
            (std::vector<std::int64_t>{INT64_MAX}));
  EXPECT_EQ(refused(Errc::unsupported, npy_bytes(npy_header_of("<u8", "(1,)"),
                                                 npy_numbers<std::uint64_t>({largest + 1}))),
            "expected numbers that i64 can hold, got 9223372036854775808");
}

// The elements are converted a piece at a time.
TEST_F(NpyFiles, OfManyElementsAreConverted) {
  std::vector<std::int16_t> from(200'000);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::int16_t>(i);
  const std::vector<std::int32_t> expected(from.begin(), from.end());
  EXPECT_EQ(numbers<std::int32_t>(npy_bytes(npy_header_of("<i2", "(200000,)"), npy_numbers(from))),
            expected);
}

TEST_F(NpyFiles, OfAnotherTypeAreRefused) {
  EXPECT_EQ(refused(Errc::unsupported, npy_bytes(npy_header_of(">f4", "(1,)"), "1234")),
            "expected elements of <f4, <i8, <i4, <u1, <b1, <f2, <f8, <i1, <i2, <u2, <u4, <u8, got "
            "\">f4\"");
  for (const std::string type : {"<c8", "|O", "<U3", "|f4", "f4", "", "<f16"})
    EXPECT_NE(refused(Errc::unsupported, npy_bytes(npy_header_of(type, "(1,)"), "1234")),
              "accepted");
  EXPECT_EQ(refused(Errc::unsupported,
                    npy_bytes("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}",
                              "1234")),
            "expected elements that are numbers, got records of fields");
}

TEST_F(NpyFiles, ThatClaimOtherThanTheyHaveAreRefused) {
  const auto claiming = [&](const std::string& shape) {
    return refused(Errc::corrupt_file, npy_bytes(npy_header_of("<f4", shape), "12345678"));
  };
  EXPECT_EQ(claiming("(3,)"), "truncated: [3] has 12 bytes, but 8 follow the header");
  EXPECT_EQ(claiming("(1,)"), "[1] has 4 bytes, but 8 follow the header");
  EXPECT_EQ(claiming("(0, 5)"), "[0,5] has 0 bytes, but 8 follow the header");
  for (const std::string shape :
       {"(9223372036854775807,)", "(4294967296, 4294967296)",
        "(4294967297, 4294967297, 4294967297)", "(-1,)", "(9223372036854775808,)", "(2,", "2",
        "(2 2)", "(2.0,)", "(,)", "(0, 9223372036854775807, 2)"})
    EXPECT_NE(claiming(shape), "accepted") << shape;
  EXPECT_EQ(refused(Errc::unsupported,
                    npy_bytes(npy_header_of("<f4", "(1, 1, 1, 1, 1, 1, 1, 1, 2)"), "12345678")),
            "expected at most 8 dimensions, got 9");
}

TEST_F(NpyFiles, WithABadHeaderAreRefused) {
  const auto with = [&](const std::string& header) {
    return refused(Errc::corrupt_file, npy_bytes(header, "1234"));
  };
  EXPECT_EQ(with(""), "header: expected \"{\" at byte 0");
  EXPECT_EQ(with("{'descr': '<f4', 'shape': (1,)}"),
            "header: expected the entries descr, fortran_order and shape, got fewer");
  EXPECT_EQ(with("{'descr': '<f4', 'descr': '<f4'}"),
            "header: expected each entry once at byte 25");
  EXPECT_EQ(with("{'descr': '<f4', 'more': 1}"),
            "header: expected descr, fortran_order or shape, got \"more\"");
  EXPECT_EQ(with("{'descr': <f4}"), "header: expected a text in quotes at byte 10");
  EXPECT_EQ(with("{'fortran_order': 1}"), "header: expected True or False at byte 18");
  EXPECT_EQ(with(npy_header_of("<f4", "(1,)") + "}"),
            "header: expected nothing behind the dictionary at byte 58");
  EXPECT_EQ(with(std::string(10'001, ' ')), "expected a header of at most 10000 bytes, got 10001");
  EXPECT_EQ(refused(Errc::corrupt_file, "PK\3\4 and more"),
            "expected a file of numpy.save(), which begins with \\x93NUMPY");
  EXPECT_EQ(refused(Errc::corrupt_file, npy_bytes(npy_header_of("|b1", "(2,)"), "\1\7")),
            "expected bytes of 0 and 1, got 7 as element 1");
}

TEST_F(NpyFiles, ThatAreCutShortAreRefused) {
  const std::string whole = npy_bytes(npy_header_of("<f4", "(2,)"), npy_numbers<float>({3, 4}), 2);
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_NE(refused(Errc::corrupt_file, whole.substr(0, size)), "accepted") << size;
}

TEST_F(NpyFiles, ThatAreNotThereOrCannotBeWrittenAreNamed) {
  EXPECT_EQ(refusal(Errc::io_error, [&] { load_npy(path()); }),
            "NumPy file \"" + path() + "\": no such file");
  EXPECT_EQ(refusal(Errc::invalid_argument, [&] { save_npy(path(), {}); }),
            "save_npy: expected elements, got an empty tensor");
  EXPECT_TRUE(directory_.entries().empty());
}

}  // namespace
}  // namespace penstock
