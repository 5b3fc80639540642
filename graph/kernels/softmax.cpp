#include "graph/kernels/softmax.hpp"

#include "graph/kernels/each_element.hpp"
#include "graph/kernels/exponential.hpp"
#include "graph/kernels/sums.hpp"

namespace penstock::graph::PENSTOCK_ISA {
namespace {

// A line whose elements are neighbours is worked on by itself; lines whose elements are `inner`
// apart are worked on side by side, so many at a time.
constexpr std::int64_t columns = 64;

/// Lines side by side: row r, of `width` elements, is at offset first + r·inner.
struct Slab {
  std::int64_t first, rows, inner, width;

  /// Calls `work(row offset)` for each row.
  template <class Work>
  [[gnu::always_inline]] void for_each_row(Work work) const {
    for (std::int64_t row = 0; row < rows; ++row) work(first + row * inner);
  }
};

/// Calls `whole(offset)` for each line, or `side_by_side(slab)` for each group of lines.
template <class Whole, class SideBySide>
[[gnu::always_inline]] inline void for_each_group(const Lines& lines, Whole whole,
                                                  SideBySide side_by_side) {
  if (lines.length == 0) return;
  for (std::int64_t outer = 0; outer < lines.outer; ++outer) {
    const std::int64_t begin = outer * lines.length * lines.inner;
    if (lines.inner == 1) {
      whole(begin);
      continue;
    }
    for (std::int64_t i = 0; i < lines.inner; i += columns) {
      const std::int64_t left = lines.inner - i;
      side_by_side(Slab{begin + i, lines.length, lines.inner, left < columns ? left : columns});
    }
  }
}

/// Puts exp(x - peak) into y, unless that is null, and returns their sum. Works on copies of whole
/// vectors, so that no exponential is taken alone.
float exponentials(std::int64_t count, const float* x, float peak, float* y) {
  constexpr std::int64_t most = 256, step = 16;
  float terms[most];
  double sum = 0;
  for (std::int64_t i = 0; i < count; i += most) {
    const std::int64_t size = count - i < most ? count - i : most;
    const std::int64_t padded = (size + step - 1) / step * step;
    for (std::int64_t j = padded - step; j < padded; ++j) terms[j] = -__builtin_inff();
    __builtin_memcpy(terms, x + i, static_cast<std::size_t>(size) * sizeof(float));
    for_each_element(padded, [&](std::int64_t j) { terms[j] = exponential(terms[j] - peak); });
    if (y) __builtin_memcpy(y + i, terms, static_cast<std::size_t>(size) * sizeof(float));
    sum += long_sum(size, terms);
  }
  return static_cast<float>(sum);
}

/// peaks[i] = the largest of column i.
[[gnu::always_inline]] inline void find_peaks(const Slab& slab, const float* x, float* peaks) {
  for_each_element(slab.width, [=](std::int64_t i) { peaks[i] = -__builtin_inff(); });
  slab.for_each_row([=, width = slab.width](std::int64_t row) {
    for_each_element(
        width, [=](std::int64_t i) { peaks[i] = x[row + i] > peaks[i] ? x[row + i] : peaks[i]; });
  });
}

/// sums[i] = the sum of term(offset) over column i.
template <class Term>
[[gnu::always_inline]] inline void sum_columns(const Slab& slab, float* sums, Term term) {
  for_each_element(slab.width, [=](std::int64_t i) { sums[i] = 0; });
  slab.for_each_row([=, width = slab.width](std::int64_t row) {
    for_each_element(width, [=](std::int64_t i) { sums[i] += term(row + i, i); });
  });
}

float logarithm(float x) {
  return static_cast<float>(__builtin_log(static_cast<double>(x)));
}

void softmax(const Lines& lines, const float* x, float* y) {
  const auto whole = [=, length = lines.length](std::int64_t at) {
    const float sum = exponentials(length, x + at, largest(length, x + at), y + at);
    for_each_element(length, [=, line = y + at](std::int64_t i) { line[i] /= sum; });
  };
  const auto side_by_side = [=](const Slab& slab) {
    float peaks[columns], sums[columns];
    find_peaks(slab, x, peaks);
    sum_columns(slab, sums, [=, peak = &peaks[0]](std::int64_t at, std::int64_t i) {
      return y[at] = exponential(x[at] - peak[i]);
    });
    slab.for_each_row([=, width = slab.width, sum = &sums[0]](std::int64_t row) {
      for_each_element(width, [=](std::int64_t i) { y[row + i] /= sum[i]; });
    });
  };
  for_each_group(lines, whole, side_by_side);
}

void log_softmax(const Lines& lines, const float* x, float* y) {
  const auto whole = [=, length = lines.length](std::int64_t at) {
    const float peak = largest(length, x + at);
    const float log_sum = logarithm(exponentials(length, x + at, peak, nullptr));
    for_each_element(length, [=](std::int64_t i) { y[at + i] = (x[at + i] - peak) - log_sum; });
  };
  const auto side_by_side = [=](const Slab& slab) {
    float peaks[columns], sums[columns];
    find_peaks(slab, x, peaks);
    sum_columns(slab, sums, [=, peak = &peaks[0]](std::int64_t at, std::int64_t i) {
      return exponential(x[at] - peak[i]);
    });
    for (std::int64_t i = 0; i < slab.width; ++i) sums[i] = logarithm(sums[i]);
    slab.for_each_row(
        [=, width = slab.width, peak = &peaks[0], log_sum = &sums[0]](std::int64_t row) {
          for_each_element(
              width, [=](std::int64_t i) { y[row + i] = (x[row + i] - peak[i]) - log_sum[i]; });
        });
  };
  for_each_group(lines, whole, side_by_side);
}

void softmax_gradient(const Lines& lines, const float* y, const float* dy, float* dx) {
  const auto product = [](auto a, auto b) { return a * b; };
  const auto whole = [=, length = lines.length](std::int64_t at) {
    const auto dot = static_cast<float>(long_sum_of(length, product, y + at, dy + at));
    for_each_element(length, [=](std::int64_t i) { dx[at + i] = y[at + i] * (dy[at + i] - dot); });
  };
  const auto side_by_side = [=](const Slab& slab) {
    float dots[columns];
    sum_columns(slab, dots, [=](std::int64_t at, std::int64_t) { return dy[at] * y[at]; });
    slab.for_each_row([=, width = slab.width, dot = &dots[0]](std::int64_t row) {
      for_each_element(width,
                       [=](std::int64_t i) { dx[row + i] = y[row + i] * (dy[row + i] - dot[i]); });
    });
  };
  for_each_group(lines, whole, side_by_side);
}

void log_softmax_gradient(const Lines& lines, const float* y, const float* dy, float* dx) {
  const auto whole = [=, length = lines.length](std::int64_t at) {
    const auto sum = static_cast<float>(long_sum(length, dy + at));
    for_each_element(
        length, [=](std::int64_t i) { dx[at + i] = dy[at + i] - exponential(y[at + i]) * sum; });
  };
  const auto side_by_side = [=](const Slab& slab) {
    float sums[columns];
    sum_columns(slab, sums, [=](std::int64_t at, std::int64_t) { return dy[at]; });
    slab.for_each_row([=, width = slab.width, sum = &sums[0]](std::int64_t row) {
      for_each_element(width, [=](std::int64_t i) {
        dx[row + i] = dy[row + i] - exponential(y[row + i]) * sum[i];
      });
    });
  };
  for_each_group(lines, whole, side_by_side);
}

void cross_entropy_gradient(const LabelledLines& of, const float* log_probabilities, float* dx) {
  const auto [outer, length, inner] = of.lines;
  for_each_element(outer * length * inner,
                   [=](std::int64_t i) { dx[i] = exponential(log_probabilities[i]); });
  for (std::int64_t line = 0; line < outer * inner; ++line) {
    float* const classes = dx + line / inner * length * inner + line % inner;
    const bool ignored = of.labels[line] == of.ignored;
    const float factor = of.dloss.data[of.dloss.repeats ? 0 : line];
    if (!ignored) classes[of.labels[line] * inner] -= of.own;
    for (std::int64_t c = 0; c < length; ++c)
      classes[c * inner] = ignored ? 0.0f : (classes[c * inner] - of.uniform) * factor;
  }
}

}  // namespace

extern const SoftmaxKernels softmax_kernels;
const SoftmaxKernels softmax_kernels{.softmax = softmax,
                                     .softmax_gradient = softmax_gradient,
                                     .log_softmax = log_softmax,
                                     .log_softmax_gradient = log_softmax_gradient,
                                     .cross_entropy_gradient = cross_entropy_gradient};

}  // namespace penstock::graph::PENSTOCK_ISA
