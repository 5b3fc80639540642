// These tests check lines that kernels work on side by side. The results of a line do not depend on
// the number of lines, although that number decides whether several rows of elements are joined.
#include "graph/kernels/reductions/softmax.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "graph/kernels/kernel_table.hpp"
#include "tests/support/random_tensor.hpp"

namespace penstock::graph {
namespace {

using Floats = std::vector<float>;

/// A Matrix has the numbers of several lines that lie side by side: element e of line i is at
/// e * lines + i.
struct Matrix {
  std::int64_t length, lines;
  Floats numbers;
};

/// With this number of lines, a row is whole vectors, so that rows are worked on one by one.
constexpr std::int64_t most_lines = 64;

Matrix whole_matrix(std::int64_t length, std::uint64_t seed, float low, float high) {
  const Tensor numbers = testing::uniform({length, most_lines}, seed, low, high);
  return {length, most_lines, {numbers.as<float>().begin(), numbers.as<float>().end()}};
}

Matrix first_lines(const Matrix& matrix, std::int64_t lines) {
  Matrix first{matrix.length, lines, {}};
  for (std::int64_t e = 0; e < matrix.length; ++e)
    for (std::int64_t i = 0; i < lines; ++i)
      first.numbers.push_back(matrix.numbers[static_cast<std::size_t>(e * matrix.lines + i)]);
  return first;
}

bool same_bits(const Matrix& a, const Matrix& b) {
  return a.numbers.size() == b.numbers.size() &&
         std::memcmp(a.numbers.data(), b.numbers.data(), a.numbers.size() * sizeof(float)) == 0;
}

/// Returns a label for each line of `x`. The label of line 1 is ignored.
std::vector<std::int64_t> labels_of(const Matrix& x) {
  std::vector<std::int64_t> labels;
  for (std::int64_t i = 0; i < x.lines; ++i) labels.push_back(i == 1 ? -100 : 5 * i % x.length);
  return labels;
}

void cross_entropy_gradient(const Lines& lines, const Matrix& x, const float* log_probabilities,
                            float* dx) {
  const std::vector<std::int64_t> labels = labels_of(x);
  const float factor = 0.25f;
  kernel_table().softmax.cross_entropy_gradient({.lines = lines,
                                                 .labels = labels.data(),
                                                 .ignored = -100,
                                                 .of_target = 0.9f,
                                                 .uniform = 0.01f,
                                                 .dloss = {.data = &factor, .repeats = true}},
                                                log_probabilities, dx);
}

/// A Call runs a kernel on `x` and on what `y` contains, and puts the result into `y`.
using Call = std::function<void(const Lines&, const Matrix& x, float* y)>;

struct Case {
  std::string name;
  Call call;
};

std::vector<Case> cases() {
  const SoftmaxKernels& kernels = kernel_table().softmax;
  return {{"softmax",
           [&](auto& lines, auto& x, float* y) { kernels.softmax(lines, x.numbers.data(), y); }},
          {"softmax in place",
           [&](auto& lines, auto& x, float* y) {
             std::copy(x.numbers.begin(), x.numbers.end(), y);
             kernels.softmax(lines, y, y);
           }},
          {"log_softmax", [&](auto& lines, auto& x,
                              float* y) { kernels.log_softmax(lines, x.numbers.data(), y); }},
          {"log_softmax in place",
           [&](auto& lines, auto& x, float* y) {
             std::copy(x.numbers.begin(), x.numbers.end(), y);
             kernels.log_softmax(lines, y, y);
           }},
          {"softmax_gradient",
           [&](auto& lines, auto& x, float* y) {
             kernels.softmax_gradient(lines, x.numbers.data(), y, y);
           }},
          {"log_softmax_gradient",
           [&](auto& lines, auto& x, float* y) {
             kernels.log_softmax_gradient(lines, x.numbers.data(), y, y);
           }},
          {"log_softmax_gradient in place",
           [&](auto& lines, auto& x, float* y) {
             const Floats dy(y, y + x.numbers.size());
             std::copy(x.numbers.begin(), x.numbers.end(), y);
             kernels.log_softmax_gradient(lines, y, dy.data(), y);
           }},
          {"cross_entropy_gradient",
           [&](auto& lines, auto& x, float* y) {
             cross_entropy_gradient(lines, x, x.numbers.data(), y);
           }},
          {"cross_entropy_gradient in place", [&](auto& lines, auto& x, float* y) {
             std::copy(x.numbers.begin(), x.numbers.end(), y);
             cross_entropy_gradient(lines, x, y, y);
           }}};
}

Matrix result(const Case& one, const Matrix& x, const Matrix& y) {
  Matrix made = y;
  one.call({.outer = 1, .length = x.length, .inner = x.lines}, x, made.numbers.data());
  return made;
}

void expect_lines_alone(const Case& one, const Matrix& x, const Matrix& y) {
  const Matrix all = result(one, x, y);
  for (std::int64_t lines = 2; lines < most_lines; ++lines)
    EXPECT_TRUE(same_bits(result(one, first_lines(x, lines), first_lines(y, lines)),
                          first_lines(all, lines)))
        << one.name << " of " << lines << " lines of length " << x.length;
}

TEST(SoftmaxKernels, GiveALineTheSameBitsHoweverManyLinesAreBesideIt) {
  // There are more rows than are joined at a time.
  for (const std::int64_t length : {1, 2, 7, 33, 600})
    // With 20, some lines give nearly all probability to one element.
    for (const float size : {1.0f, 20.0f}) {
      const Matrix x = whole_matrix(length, 1, -size, 0), y = whole_matrix(length, 2, -1, 1);
      for (const Case& one : cases()) expect_lines_alone(one, x, y);
    }
}

TEST(SoftmaxKernels, LeaveTheMemoryBesideTheirLinesAlone) {
  // The kernels work on 64 of the 71 lines first, and then on 7.
  constexpr std::int64_t apart = 71, length = 5;
  const Tensor numbers = testing::uniform({length, apart}, 3, -1, 0);
  const Matrix x{length, apart, {numbers.as<float>().begin(), numbers.as<float>().end()}};
  constexpr float mark = 77;
  for (const Case& one : cases()) {
    Matrix y = x;
    y.numbers.resize(y.numbers.size() + most_lines, mark);
    one.call({.outer = 1, .length = length, .inner = apart}, x, y.numbers.data());
    for (std::size_t i = x.numbers.size(); i < y.numbers.size(); ++i)
      ASSERT_EQ(y.numbers[i], mark) << one.name;
  }
}

}  // namespace
}  // namespace penstock::graph
