// These tests compare every op with PyTorch's values, forward and all gradients.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>
#include <string>

#include "tests/graph/ops/reference_cases.hpp"
#include "tests/support/data_path.hpp"

namespace penstock::graph {
namespace {

/// This is the largest error that is allowed, relative to the expected tensor's largest magnitude.
constexpr double tolerance = 1e-5;

/// Returns whether two shapes are the same. A scalar has the shape [1] in the files.
bool same_shape(const Shape& a, const Shape& b) {
  return a == b || (a.elements() == 1 && b.elements() == 1);
}

void expect_close(const Tensor& actual, const Tensor& expected, const std::string& name) {
  ASSERT_TRUE(actual) << name << " was not computed";
  ASSERT_TRUE(same_shape(actual.shape(), expected.shape()))
      << name << ": " << to_string(actual.shape()) << ", not " << to_string(expected.shape());
  const auto a = actual.as<float>(), e = expected.as<float>();
  double largest = 0, error = 0;
  for (std::size_t i = 0; i < e.size(); ++i) {
    largest = std::max(largest, static_cast<double>(std::abs(e[i])));
    const double difference = std::abs(static_cast<double>(a[i]) - e[i]);
    error = std::isnan(difference) ? HUGE_VAL : std::max(error, difference);
  }
  EXPECT_LE(error, tolerance * largest) << name;
}

class ReferenceValues : public ::testing::TestWithParam<ReferenceCase> {};

TEST_P(ReferenceValues, AreReproduced) {
  const std::string path = "ops/" + std::string(GetParam().file) + ".safetensors";
  ReferenceTape reference(testing::read_reference(testing::data_path(path)));
  const ValueId out = GetParam().build(reference);
  testing::Tape& tape = reference.tape();
  const auto& expected = reference.file().tensors;
  tape.backward(out, expected.at("grad.out").reshaped(tape[out].shape()));

  std::set<std::string> compared{"grad.out"};
  const auto compare = [&](const std::string& name, const Tensor& actual) {
    if (!expected.contains(name)) return;
    expect_close(actual, expected.at(name), name);
    compared.insert(name);
  };
  compare("out", tape[out]);
  for (const auto& [name, value] : reference.others()) compare("out." + name, tape[value]);
  for (const auto& [name, value] : reference.inputs()) {
    compare("grad." + name, tape.gradient(value));
    compared.insert("in." + name);
  }
  for (const auto& [name, tensor] : expected)
    EXPECT_TRUE(compared.contains(name)) << name << " is in the file but was not used";
}

INSTANTIATE_TEST_SUITE_P(PyTorch, ReferenceValues, ::testing::ValuesIn(reference_cases()),
                         [](const auto& info) { return std::string(info.param.file); });

TEST(ReferenceCases, UseEveryFile) {
  std::set<std::string> files, used;
  for (const auto& entry : std::filesystem::directory_iterator(testing::data_path("ops")))
    files.insert(entry.path().stem().string());
  for (const ReferenceCase& row : reference_cases()) used.emplace(row.file);
  EXPECT_EQ(used, files);
}

}  // namespace
}  // namespace penstock::graph
