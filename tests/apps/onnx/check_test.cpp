#include "apps/onnx/check.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <initializer_list>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "penstock/tensor.hpp"
#include "tests/support/onnx_bytes.hpp"
#include "tests/support/temporary_directory.hpp"

namespace penstock::testing {
namespace {

using onnx_tool::Outcome;
using onnx_tool::Verdict;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

constexpr std::int64_t floats = 1, int64s = 7;  // These are numbers of ONNX's types.

/// Returns the field of a graph that declares an output.
std::string declared_output(const std::string& name, std::int64_t type = floats) {
  const std::string tensor = wire_bytes(1, wire_integer(1, type));
  return wire_bytes(12, wire_bytes(1, name) + wire_bytes(2, tensor));
}

/// A TestFolder is a folder as those of ONNX's backend tests, of a model with the outputs y = |x|
/// and z = -x.
class TestFolder {
 public:
  /// Makes a folder that passes.
  TestFolder() : TestFolder({-2, 0}, {2, 0}, {2, 0}) {}
  TestFolder(std::initializer_list<float> x, std::initializer_list<float> y,
             std::initializer_list<float> z) {
    OnnxBytes model;
    model.input("x", {"batch", 2});
    model.graph_field(declared_output("y")).graph_field(declared_output("z"));
    model.node({"Abs", {"x"}, {"y"}}).node({"Neg", {"x"}, {"z"}});
    write_file(directory_ / "model.onnx", model.file());
    std::filesystem::create_directory(data());
    write("input_0.pb", Tensor({1, 2}, x));
    write("output_0.pb", Tensor({1, 2}, y));
    write("output_1.pb", Tensor({1, 2}, z));
  }

  std::filesystem::path data() const { return directory_ / "test_data_set_0"; }
  void write(const std::string& name, const Tensor& tensor) const {
    write_file(data() / name, onnx_tensor("", tensor));
  }
  Verdict verdict() const { return onnx_tool::check(directory_.path().string()); }

 private:
  TemporaryDirectory directory_;
};

/// Returns the verdict on a model that computes |x| of `x` and zero, of which `expected` is
/// expected in place of |x|.
Verdict verdict_on(float x, float expected) {
  return TestFolder({x, 0}, {expected, 0}, {-x, 0}).verdict();
}

void expect_failure(const Verdict& verdict, const std::string& text) {
  EXPECT_EQ(verdict.outcome, Outcome::failed);
  EXPECT_EQ(verdict.text, text);
}

TEST(CheckOnnx, PassesWhatTheModelComputes) {
  const Verdict verdict = TestFolder().verdict();
  EXPECT_EQ(verdict.outcome, Outcome::passed) << verdict.text;
}

TEST(CheckOnnx, FailsAWrongValueOfAnyOutput) {
  expect_failure(verdict_on(-2, 3), "output \"y\": largest difference 1.000000");
  const TestFolder folder;
  folder.write("output_1.pb", Tensor({1, 2}, {-2, 0}));
  expect_failure(folder.verdict(), "output \"z\": largest difference 4.000000");
}

TEST(CheckOnnx, TakesNumbersWithinTheToleranceAndNoOthers) {
  struct Case {
    float x, expected;
    Outcome outcome;
  };
  // The two may differ by a thousandth of what is expected, and by 1e-7 more.
  for (const auto& [x, expected, outcome] :
       {Case{1000.999f, 1000, Outcome::passed}, Case{1001.001f, 1000, Outcome::failed},
        Case{999.001f, 1000, Outcome::passed}, Case{998.999f, 1000, Outcome::failed},
        Case{0.99e-7f, 0, Outcome::passed}, Case{1.01e-7f, 0, Outcome::failed},
        Case{1.0019e-4f, 1e-4f, Outcome::passed}, Case{1.0021e-4f, 1e-4f, Outcome::failed}})
    EXPECT_EQ(verdict_on(x, expected).outcome, outcome) << x << ' ' << expected;
}

TEST(CheckOnnx, TellsNaNAndInfinitiesFromNumbers) {
  struct Case {
    float x, expected;
  };
  for (const auto& [x, expected] : {Case{nan, 1}, Case{1, nan}, Case{infinity, 1},
                                    Case{1, infinity}, Case{nan, infinity}, Case{infinity, nan}})
    EXPECT_EQ(verdict_on(x, expected).outcome, Outcome::failed) << x << ' ' << expected;
  EXPECT_EQ(verdict_on(nan, nan).outcome, Outcome::passed);
  EXPECT_EQ(verdict_on(infinity, infinity).outcome, Outcome::passed);
  expect_failure(TestFolder({nan, 1}, {1, 3}, {nan, -1}).verdict(),
                 "output \"y\": largest difference nan");
}

TEST(CheckOnnx, TellsIntegersApartThatAreTheSameAsDoubles) {
  constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min(),
                         highest = std::numeric_limits<std::int64_t>::max(),
                         odd = (std::int64_t{1} << 53) + 1;
  const TemporaryDirectory directory;
  const std::filesystem::path data = directory / "test_data_set_0";
  std::filesystem::create_directory(data);
  const auto verdict = [&](std::int64_t got, std::int64_t expected) {
    const std::vector<std::int64_t> computed{got, 7}, wanted{expected, 7};
    OnnxBytes model;
    model.initializer("c", Tensor({2}, std::span(computed)));
    model.node({"Identity", {"c"}, {"y"}}).graph_field(declared_output("y", int64s));
    write_file(directory / "model.onnx", model.file());
    write_file(data / "output_0.pb", onnx_tensor("", Tensor({2}, std::span(wanted))));
    return onnx_tool::check(directory.path().string());
  };
  for (const std::int64_t number : {lowest, -odd, odd, highest})
    EXPECT_EQ(verdict(number, number).outcome, Outcome::passed) << number;
  expect_failure(verdict(odd, odd - 1), "output \"y\": largest difference 1.000000");
  expect_failure(verdict(highest - 1, highest), "output \"y\": largest difference 1.000000");
  expect_failure(verdict(-odd, odd), "output \"y\": largest difference 18014398509481984.000000");
  EXPECT_EQ(verdict(lowest, highest).outcome, Outcome::failed);
}

TEST(CheckOnnx, FailsAnotherTypeAndAnotherShape) {
  const TestFolder folder;
  const std::vector<std::int64_t> integers{2, 0};
  folder.write("output_0.pb", Tensor({1, 2}, std::span<const std::int64_t>(integers)));
  expect_failure(folder.verdict(), "output \"y\": expected i64[1,2], got f32[1,2]");
  folder.write("output_0.pb", Tensor({2}, {2, 0}));
  expect_failure(folder.verdict(), "output \"y\": expected f32[2], got f32[1,2]");
}

TEST(CheckOnnx, FailsIfNothingIsExpectedOfAnOutput) {
  const TestFolder folder;
  std::filesystem::remove(folder.data() / "output_1.pb");
  expect_failure(folder.verdict(),
                 "expected test_data_set_0/output_1.pb for output \"z\", but there is no such "
                 "file");
  std::filesystem::remove(folder.data() / "output_0.pb");
  const std::string first =
      "expected test_data_set_0/output_0.pb for output \"y\", but there is no such file";
  expect_failure(folder.verdict(), first);
  folder.write("output_1.pb", Tensor({1, 2}, {2, 0}));
  expect_failure(folder.verdict(), first);
}

TEST(CheckOnnx, FailsIfAnInputIsMissing) {
  const TestFolder folder;
  std::filesystem::remove(folder.data() / "input_0.pb");
  expect_failure(folder.verdict(),
                 "expected test_data_set_0/input_0.pb for input \"x\", but there is no such file");
}

TEST(CheckOnnx, FailsIfMoreIsExpectedThanTheModelHas) {
  for (const std::string name : {"output_2.pb", "output_7.pb"}) {
    const TestFolder folder;
    folder.write(name, Tensor({1, 2}, {2, 0}));
    expect_failure(folder.verdict(),
                   "expected as many files output_0.pb and so on in test_data_set_0 as the model "
                   "has outputs, which are 2, got 3");
  }
}

TEST(CheckOnnx, FailsWithoutAFolderOfData) {
  const TestFolder folder;
  std::filesystem::rename(folder.data(), folder.data().parent_path() / "data");
  expect_failure(folder.verdict(), "there is no folder test_data_set_0");
}

}  // namespace
}  // namespace penstock::testing
