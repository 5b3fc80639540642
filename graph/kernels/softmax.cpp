#include "graph/kernels/softmax.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <limits>

namespace penstock::graph::kernels {
namespace {

using Eigen::Index;

// A line whose elements are neighbours is worked on by itself; lines whose elements are `inner`
// apart are worked on side by side, so many at a time.
constexpr Index columns = 64;
using Row = Eigen::Array<float, 1, Eigen::Dynamic, Eigen::RowMajor, 1, columns>;
using Slab = Eigen::Array<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Eigen::Map<const Eigen::ArrayXf> line(const float* data, Index i, Index length) {
  return {data + i * length, length};
}
Eigen::Map<Eigen::ArrayXf> line(float* data, Index i, Index length) {
  return {data + i * length, length};
}

/// Calls `whole(i)` for each line, or `side_by_side(first, width)` for each group of lines;
/// `first` is the offset of its first element.
template <class Whole, class SideBySide>
void for_each_group(const Lines& lines, Whole whole, SideBySide side_by_side) {
  if (lines.inner == 1) {
    for (Index i = 0; i < lines.outer; ++i) whole(i);
    return;
  }
  for (Index i = 0; i < lines.outer; ++i)
    for (Index j = 0; j < lines.inner; j += columns)
      side_by_side(i * lines.length * lines.inner + j, std::min(columns, lines.inner - j));
}

/// The lines from offset `first` on: [length, width].
template <class Float, class Matrix = std::conditional_t<std::is_const_v<Float>, const Slab, Slab>>
Eigen::Map<Matrix, 0, Eigen::OuterStride<>> group(Float* data, Index first, Index width,
                                                  const Lines& lines) {
  return {data + first, lines.length, width, Eigen::OuterStride<>(lines.inner)};
}

/// exp(x), x <= 0. Eigen's vectorised exp never gets below 1e-39; what underflows is 0 here, so
/// that a masked element has no weight at all.
template <class X, class Y>
void exp_into(const X& x, Y&& y) {
  y = x.exp();
  y = (y < std::numeric_limits<float>::min()).select(0.0f, y);
}

}  // namespace

void softmax(const float* x, float* y, const Lines& lines) {
  const auto whole = [&](Index i) {
    const auto in = line(x, i, lines.length);
    auto out = line(y, i, lines.length);
    exp_into(in - in.maxCoeff(), out);
    out /= out.sum();
  };
  const auto side_by_side = [&](Index first, Index width) {
    const auto in = group(x, first, width, lines);
    auto out = group(y, first, width, lines);
    const Row peak = in.colwise().maxCoeff();
    exp_into(in.rowwise() - peak, out);
    const Row sum = out.colwise().sum();
    out.rowwise() /= sum;
  };
  if (lines.length > 0) for_each_group(lines, whole, side_by_side);
}

void log_softmax(const float* x, float* y, const Lines& lines) {
  const auto whole = [&](Index i) {
    const auto in = line(x, i, lines.length);
    const float peak = in.maxCoeff();
    const float log_sum = std::log((in - peak).exp().sum());
    line(y, i, lines.length) = (in - peak) - log_sum;
  };
  const auto side_by_side = [&](Index first, Index width) {
    const auto in = group(x, first, width, lines);
    const Row peak = in.colwise().maxCoeff();
    const Row log_sum = (in.rowwise() - peak).exp().colwise().sum().log();
    group(y, first, width, lines) = (in.rowwise() - peak).rowwise() - log_sum;
  };
  if (lines.length > 0) for_each_group(lines, whole, side_by_side);
}

void softmax_gradient(const float* y, const float* dy, float* dx, const Lines& lines) {
  const auto whole = [&](Index i) {
    const auto out = line(y, i, lines.length), gradient = line(dy, i, lines.length);
    line(dx, i, lines.length) = out * (gradient - (gradient * out).sum());
  };
  const auto side_by_side = [&](Index first, Index width) {
    const auto out = group(y, first, width, lines), gradient = group(dy, first, width, lines);
    const Row dot = (gradient * out).colwise().sum();
    group(dx, first, width, lines) = out * (gradient.rowwise() - dot);
  };
  for_each_group(lines, whole, side_by_side);
}

void log_softmax_gradient(const float* y, const float* dy, float* dx, const Lines& lines) {
  const auto whole = [&](Index i) {
    const auto gradient = line(dy, i, lines.length);
    line(dx, i, lines.length) = gradient - line(y, i, lines.length).exp() * gradient.sum();
  };
  const auto side_by_side = [&](Index first, Index width) {
    const auto gradient = group(dy, first, width, lines);
    const Row sum = gradient.colwise().sum();
    group(dx, first, width, lines) = gradient - group(y, first, width, lines).exp().rowwise() * sum;
  };
  for_each_group(lines, whole, side_by_side);
}

}  // namespace penstock::graph::kernels
