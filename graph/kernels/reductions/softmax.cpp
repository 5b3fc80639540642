#include "graph/kernels/reductions/softmax.hpp"

#include "graph/kernels/vectors/exponential.hpp"
#include "graph/kernels/vectors/logarithm.hpp"
#include "graph/kernels/vectors/slab.hpp"
#include "graph/kernels/vectors/sums.hpp"

namespace penstock::graph::PENSTOCK_ISA {
namespace {

/// Calls `use(row, i, exp(x[row + i] - peaks[i]))` for each element of a ragged slab, in the way of
/// for_each_joined().
template <class Use>
[[gnu::always_inline]] inline void for_each_term(const Slab& slab, const float* x,
                                                 const float* peaks, Use use) {
  for_each_joined(
      slab, [=](std::int64_t row, std::int64_t i) { return x[row + i] - peaks[i]; },
      [](float difference) { return exponential_of_negative(difference); }, use);
}

/// A Block is a part of a line: `size` elements from element `first` on. `terms` has a term exp(x -
/// peak) for each of them, and then zeros up to a multiple of 16.
struct Block {
  std::int64_t first, size;
  const float* terms;
};

/// Calls `use(block)` for each Block of a line. The terms exp(x - peak) are computed in a copy of
/// the elements that is padded to a multiple of 16, so that exponentials are always computed in
/// whole Vectors.
template <class Use>
[[gnu::always_inline]] inline void for_each_block(std::int64_t count, const float* x, float peak,
                                                  Use use) {
  constexpr std::int64_t most = 256, step = 16;
  float terms[most];
  for (std::int64_t i = 0; i < count; i += most) {
    const std::int64_t size = count - i < most ? count - i : most;
    const std::int64_t padded = (size + step - 1) / step * step;
    for (std::int64_t j = padded - step; j < padded; ++j) terms[j] = -__builtin_inff();
    __builtin_memcpy(terms, x + i, static_cast<std::size_t>(size) * sizeof(float));
    for_each_element(padded,
                     [&](std::int64_t j) { terms[j] = exponential_of_negative(terms[j] - peak); });
    use(Block{i, size, &terms[0]});
  }
}

/// Writes exp(x - peak) to `y`, and returns the sum of `y`.
float exponentials(std::int64_t count, const float* x, float peak, float* y) {
  double sum = 0;
  for_each_block(count, x, peak, [&](const Block& block) {
    __builtin_memcpy(y + block.first, block.terms,
                     static_cast<std::size_t>(block.size) * sizeof(float));
    sum += long_sum(block.size, block.terms);
  });
  return static_cast<float>(sum);
}

/// The largest element of a line has the term exp(0) = 1. If all terms of a line together are less
/// than `sure`, the other terms may be too small to change 1 when they are added to it. They are
/// then summed by themselves, and the logarithm of 1 plus their sum is computed by
/// logarithm_of_one_and().
constexpr float sure = 1.5f;

/// Returns `term`, or 0 if `term` is 1 and so belongs to the largest element.
constexpr auto other_term = [](auto term) { return term < 1.0f ? term : decltype(term){}; };

float logarithm_of_sum(double sum) {
  return static_cast<float>(__builtin_log(static_cast<double>(static_cast<float>(sum))));
}

/// Returns the sum of the terms of `block` except for the term of the largest element.
float sum_of_others(const Block& block) {
  constexpr std::int64_t step = 16;
  float sums[step] = {};
  // The loop reads whole steps of 16 terms, because zeros follow the terms.
  for (std::int64_t j = 0; j < block.size; j += step)
    for_each_element(step, [&](std::int64_t i) { sums[i] += other_term(block.terms[j + i]); });
  for (std::int64_t half = step / 2; half > 0; half /= 2)
    for (std::int64_t i = 0; i < half; ++i) sums[i] += sums[i + half];
  return sums[0];
}

/// Returns log(sum(exp(x - peak))), where `peak` is the largest element of `x`.
float log_of_exponentials(std::int64_t count, const float* x, float peak) {
  double sum = 0, others = 0;
  for_each_block(count, x, peak, [&](const Block& block) {
    const double all = long_sum(block.size, block.terms);
    const bool may_be_sure = all >= 1 && all < static_cast<double>(sure);
    sum += all;
    others += may_be_sure ? static_cast<double>(sum_of_others(block)) : all;
  });
  return sum < static_cast<double>(sure) ? logarithm_of_one_and(static_cast<float>(others))
                                         : logarithm_of_sum(sum);
}

/// Computes peaks[i], the largest element of column i of `slab`.
[[gnu::always_inline]] inline void find_peaks(const Slab& slab, const float* x, float* peaks) {
  for_each_element(slab.width, [=](std::int64_t i) { peaks[i] = -__builtin_inff(); });
  slab.for_each_row([=, width = slab.width](std::int64_t row) {
    for_each_element(
        width, [=](std::int64_t i) { peaks[i] = x[row + i] > peaks[i] ? x[row + i] : peaks[i]; });
  });
}

/// Computes sums[i], the sum of `term(offset, i)` over the elements of column i of `slab`, where
/// `offset` is the offset of the element.
template <class Term>
[[gnu::always_inline]] inline void sum_columns(const Slab& slab, float* sums, Term term) {
  for_each_element(slab.width, [=](std::int64_t i) { sums[i] = 0; });
  slab.for_each_row([=, width = slab.width](std::int64_t row) {
    for_each_element(width, [=](std::int64_t i) { sums[i] += term(row + i, i); });
  });
}

/// Lines of neighbouring elements that are at most this long are transposed, so that many of them
/// are worked on side by side.
constexpr std::int64_t short_length = 32;

/// Adds up the rows of a slab into its first row, in the order in which short_sum_of() adds.
[[gnu::always_inline]] inline void fold_rows(const Slab& slab, float* rows) {
  for (std::int64_t half = short_length / 2; half > 0; half /= 2)
    for (std::int64_t row = 0; row < half && row + half < slab.rows; ++row)
      for_each_element(slab.width,
                       [to = rows + row * slab.inner, from = rows + (row + half) * slab.inner](
                           std::int64_t i) { to[i] += from[i]; });
}

/// Writes log(sum(exp(x - peak))) of each of the first `lines` columns of `slab` to `logarithms`,
/// and overwrites `x`. The bits are those that log_of_exponentials() returns for a line with the
/// same elements.
void logarithms_of_columns(const Slab& slab, std::int64_t lines, const float* peaks, float* x,
                           float* logarithms) {
  float others[short_length * columns];
  slab.for_each_row([=, width = slab.width, other = &others[0]](std::int64_t row) {
    for_each_element(width, [=](std::int64_t i) {
      const float term = exponential_of_negative(x[row + i] - peaks[i]);
      x[row + i] = term;
      other[row + i] = other_term(term);
    });
  });
  fold_rows(slab, x);
  fold_rows(slab, others);
  for (std::int64_t i = 0; i < lines; ++i)
    logarithms[i] = logarithm_of_sum(static_cast<double>(x[i]));
  for_each_element(slab.width, [=, other = &others[0]](std::int64_t i) {
    const float of_sure = logarithm_of_one_and(other[i]);
    logarithms[i] = x[i] < sure ? of_sure : logarithms[i];
  });
}

/// Computes the log softmax of `width` neighbouring lines of `length` elements each. There are at
/// most `columns` lines, and `length` is at most `short_length`.
void log_softmax_of_short_lines(std::int64_t width, std::int64_t length, const float* x, float* y) {
  float turned[short_length * columns], peaks[columns], logarithms[columns] = {};
  // Line i becomes column i of the slab. Columns without a line, at the end of the slab, hold
  // zeros.
  const Slab slab{0, length, columns, rounded_up(width)};
  for (std::int64_t row = 0; row < length; ++row)
    for (std::int64_t i = width; i < slab.width; ++i) turned[row * columns + i] = 0;
  for (std::int64_t i = 0; i < width; ++i)
    for (std::int64_t row = 0; row < length; ++row) turned[row * columns + i] = x[i * length + row];
  find_peaks(slab, turned, peaks);
  logarithms_of_columns(slab, width, peaks, turned, logarithms);
  for (std::int64_t i = 0; i < width; ++i)
    for_each_element(length, [from = x + i * length, to = y + i * length, peak = peaks[i],
                              logarithm_of_line = logarithms[i]](std::int64_t row) {
      to[row] = (from[row] - peak) - logarithm_of_line;
    });
}

[[gnu::always_inline]] inline void divide_columns(const Slab& slab, const float* sums, float* y) {
  slab.for_each_row([=, width = slab.width](std::int64_t row) {
    for_each_element(width, [=](std::int64_t i) { y[row + i] /= sums[i]; });
  });
}

[[gnu::noinline]] void softmax_of_ragged_slab(const Slab& slab, const float* x, float* y) {
  float peaks[columns], sums[columns] = {};
  find_peaks(slab, x, peaks);
  for_each_term(slab, x, peaks, [=, sum = &sums[0]](std::int64_t row, std::int64_t i, float term) {
    y[row + i] = term;
    sum[i] += term;
  });
  divide_columns(slab, sums, y);
}

void softmax(const Lines& lines, const float* x, float* y) {
  const auto whole = [=, length = lines.length](std::int64_t at) {
    const float sum = exponentials(length, x + at, largest(length, x + at), y + at);
    for_each_element(length, [=, line = y + at](std::int64_t i) { line[i] /= sum; });
  };
  const auto side_by_side = [=](const Slab& slab) {
    if (is_ragged(slab)) return softmax_of_ragged_slab(slab, x, y);
    float peaks[columns], sums[columns];
    find_peaks(slab, x, peaks);
    sum_columns(slab, sums, [=, peak = &peaks[0]](std::int64_t at, std::int64_t i) {
      return y[at] = exponential_of_negative(x[at] - peak[i]);
    });
    divide_columns(slab, sums, y);
  };
  for_each_group(lines, whole, side_by_side);
}

/// Computes y = x - peaks - log(sums) for each column of `slab`. `others` are the sums without the
/// term of the largest element. The function overwrites `sums` and `others`.
[[gnu::always_inline]] inline void subtract_logarithms(const Slab& slab, const float* x,
                                                       const float (&peaks)[columns],
                                                       float (&sums)[columns],
                                                       float (&others)[columns], float* y) {
  for_each_element(slab.width, [other = &others[0]](std::int64_t i) {
    other[i] = logarithm_of_one_and(other[i]);
  });
  for (std::int64_t i = 0; i < slab.width; ++i)
    sums[i] = sums[i] < sure ? others[i] : logarithm_of_sum(static_cast<double>(sums[i]));
  slab.for_each_row(
      [=, width = slab.width, peak = &peaks[0], log_sum = &sums[0]](std::int64_t row) {
        for_each_element(width,
                         [=](std::int64_t i) { y[row + i] = (x[row + i] - peak[i]) - log_sum[i]; });
      });
}

[[gnu::noinline]] void log_softmax_of_ragged_slab(const Slab& slab, const float* x, float* y) {
  float peaks[columns], sums[columns] = {}, others[columns] = {};
  find_peaks(slab, x, peaks);
  for_each_term(slab, x, peaks,
                [=, sum = &sums[0], other = &others[0]](std::int64_t, std::int64_t i, float term) {
                  sum[i] += term;
                  other[i] += other_term(term);
                });
  subtract_logarithms(slab, x, peaks, sums, others, y);
}

void log_softmax(const Lines& lines, const float* x, float* y) {
  if (lines.length == 0) return;
  if (lines.inner == 1 && lines.length <= short_length && lines.outer > 1) {
    for (std::int64_t line = 0; line < lines.outer; line += columns) {
      const std::int64_t left = lines.outer - line, at = line * lines.length;
      log_softmax_of_short_lines(left < columns ? left : columns, lines.length, x + at, y + at);
    }
    return;
  }
  const auto whole = [=, length = lines.length](std::int64_t at) {
    const float peak = largest(length, x + at);
    const float log_sum = log_of_exponentials(length, x + at, peak);
    for_each_element(length, [=](std::int64_t i) { y[at + i] = (x[at + i] - peak) - log_sum; });
  };
  const auto side_by_side = [=](const Slab& slab) {
    if (is_ragged(slab)) return log_softmax_of_ragged_slab(slab, x, y);
    float peaks[columns], sums[columns], others[columns] = {};
    find_peaks(slab, x, peaks);
    sum_columns(slab, sums,
                [=, peak = &peaks[0], other = &others[0]](std::int64_t at, std::int64_t i) {
                  const float term = exponential_of_negative(x[at] - peak[i]);
                  other[i] += other_term(term);
                  return term;
                });
    subtract_logarithms(slab, x, peaks, sums, others, y);
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
    for_each_mapped(
        slab, [=](std::int64_t row, std::int64_t i) { return y[row + i]; },
        [](float logarithm) { return exponential(logarithm); },
        [=, sum = &sums[0]](std::int64_t row, std::int64_t i, float probability) {
          dx[row + i] = dy[row + i] - probability * sum[i];
        });
  };
  for_each_group(lines, whole, side_by_side);
}

/// Writes to `of_target`, for each line of `slab`, the probability of its label's class minus the
/// wanted probability `of.of_target`. `next_column` is the distance between the first elements of
/// neighbouring lines. Where a probability is near 1, the difference is computed from the logarithm
/// of the probability, which says more exactly how far from 1 the probability is.
void own_differences(const LabelledLines& of, std::int64_t first_line, const Slab& slab,
                     std::int64_t next_column, const float* log_probabilities, float* of_target) {
  for (std::int64_t i = 0; i < slab.width; ++i) {
    const std::int64_t label = of.labels[first_line + i];
    of_target[i] = label == of.ignored
                       ? 0.0f
                       : log_probabilities[slab.first + i * next_column + label * slab.inner];
  }
  for_each_element(slab.width, [=, wanted = of.of_target](std::int64_t i) {
    const float unsure = exponential_of_negative(of_target[i]) - wanted;
    const float sure = (1.0f - wanted) + small_exponential_minus_one(of_target[i]);
    of_target[i] = of_target[i] > -0.34f ? sure : unsure;
  });
}

/// Computes `dx` for `width` lines from line `first_line` on. The elements of each line are
/// neighbours in memory.
void gradient_of_whole_lines(const LabelledLines& of, std::int64_t first_line, std::int64_t width,
                             const float* log_probabilities, float* dx) {
  const std::int64_t length = of.lines.length, first = first_line * length;
  float of_target[columns];
  own_differences(of, first_line, {first, length, 1, width}, length, log_probabilities, of_target);
  for_each_element(width * length, [=](std::int64_t i) {
    dx[first + i] = exponential_of_negative(log_probabilities[first + i]);
  });
  for (std::int64_t i = 0; i < width; ++i) {
    float* const classes = dx + first + i * length;
    const std::int64_t label = of.labels[first_line + i];
    const bool ignored = label == of.ignored;
    const float factor = of.dloss.data[of.dloss.repeats ? 0 : first_line + i];
    if (!ignored) classes[label] = of_target[i];
    for (std::int64_t c = 0; c < length; ++c)
      classes[c] = ignored ? 0.0f : (classes[c] - of.uniform) * factor;
  }
}

/// Computes `dx` for the lines of `slab`, which lie side by side. The first of them is line
/// `first_line`.
void gradient_of_slab(const LabelledLines& of, std::int64_t first_line, const Slab& slab,
                      const float* log_probabilities, float* dx) {
  float of_target[columns], factors[columns];
  // Element i is the offset of the row of `slab` that has the class of line i's label, or -1 if the
  // label is ignored.
  std::int64_t own_rows[columns];
  own_differences(of, first_line, slab, 1, log_probabilities, of_target);
  for (std::int64_t i = 0; i < slab.width; ++i) {
    const std::int64_t label = of.labels[first_line + i];
    own_rows[i] = label == of.ignored ? -1 : slab.first + label * slab.inner;
    factors[i] = of.dloss.data[of.dloss.repeats ? 0 : first_line + i];
  }
  for_each_mapped(
      slab, [=](std::int64_t row, std::int64_t i) { return log_probabilities[row + i]; },
      [](float logarithm) { return exponential_of_negative(logarithm); },
      [=, of_target = &of_target[0], own_row = &own_rows[0], factor = &factors[0],
       uniform = of.uniform](std::int64_t row, std::int64_t i, float probability) {
        const float difference = own_row[i] == row ? of_target[i] : probability;
        dx[row + i] = own_row[i] < 0 ? 0.0f : (difference - uniform) * factor[i];
      });
}

void cross_entropy_gradient(const LabelledLines& of, const float* log_probabilities, float* dx) {
  const auto [outer, length, inner] = of.lines;
  if (length == 0) return;
  const std::int64_t together = inner == 1 ? outer : inner;
  for (std::int64_t line = 0; line < outer * inner;) {
    const std::int64_t left = together - line % together;
    const std::int64_t width = left < columns ? left : columns;
    if (inner == 1)
      gradient_of_whole_lines(of, line, width, log_probabilities, dx);
    else
      gradient_of_slab(of, line,
                       {line / inner * length * inner + line % inner, length, inner, width},
                       log_probabilities, dx);
    line += width;
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
