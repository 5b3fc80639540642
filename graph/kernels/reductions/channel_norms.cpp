#include "graph/kernels/reductions/channel_norms.hpp"

#include "graph/kernels/vectors/each_element.hpp"
#include "graph/kernels/vectors/sums.hpp"

namespace penstock::graph::PENSTOCK_ISA {
namespace {

/// A column adds up at most this many samples in f32.
constexpr std::int64_t most_samples = 32;
/// The sums of this many columns are kept in registers at a time.
constexpr std::int64_t columns_at_once = many_registers ? 8 * vector_size : 4 * vector_size;

bool has_long_runs(const ChannelRuns& runs) {
  return runs.length >= long_run;
}

std::int64_t columns_of(const ChannelRuns& runs) {
  return runs.channels * runs.length;
}

/// Calls `work(channel, at)` for every run, where `at` is the offset of its first element.
template <class Work>
[[gnu::always_inline]] inline void for_each_run(const ChannelRuns& runs, Work work) {
  for (std::int64_t channel = 0; channel < runs.channels; ++channel)
    for (std::int64_t sample = 0; sample < runs.samples; ++sample)
      work(channel, sample * runs.sample + channel * runs.length);
}

/// Writes `values[channel]` to every column of a channel. Returns `columns`.
const float* spread(const ChannelRuns& runs, const float* values, float* columns) {
  float* to = columns;
  for (std::int64_t channel = 0; channel < runs.channels; ++channel)
    for (const float value = values[channel]; to < columns + (channel + 1) * runs.length; ++to)
      *to = value;
  return columns;
}

/// Adds up the `samples` samples from sample `first` on, in the neighbouring columns from column
/// `at` on that fill `vectors` Vectors; sum_columns() says what `term` is.
template <int vectors, class Term>
[[gnu::always_inline]] inline void add_columns(const ChannelRuns& runs, std::int64_t first,
                                               std::int64_t samples, std::int64_t at, Term term,
                                               float* sums) {
  Vector total[vectors] = {};
  for (std::int64_t sample = first; sample < first + samples; ++sample)
    unrolled<vectors>([&](auto v) {
      const std::int64_t column = at + v * vector_size;
      total[v] += term([=](const float* x) { return load(x + sample * runs.sample + column); },
                       [=](const float* of_column) { return load(of_column + column); });
    });
  unrolled<vectors>([&](auto v) { store(sums + at + v * vector_size, total[v]); });
}

/// Does the same in the last columns, from column `at` on, which do not fill a Vector.
template <class Term>
[[gnu::always_inline]] inline void add_last_columns(const ChannelRuns& runs, std::int64_t first,
                                                    std::int64_t samples, std::int64_t at,
                                                    Term term, float* sums) {
  for (std::int64_t column = at; column < columns_of(runs); ++column) {
    float total = 0;
    for (std::int64_t sample = first; sample < first + samples; ++sample)
      total += term([=](const float* x) { return x[sample * runs.sample + column]; },
                    [=](const float* of_column) { return of_column[column]; });
    sums[column] = total;
  }
}

/// Returns the sum of `count` floats in double.
double sum_of(std::int64_t count, const float* x) {
  double sums[4] = {};
  std::int64_t i = 0;
  for (; i + 4 <= count; i += 4)
    for (int part = 0; part < 4; ++part) sums[part] += static_cast<double>(x[i + part]);
  for (int part = 0; i < count; ++i, ++part) sums[part] += static_cast<double>(x[i]);
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/// Computes the sums of all channels, column by column. `columns` has a float for each column.
/// `term(of_element, of_column)` is what is added: its arguments read an element of a tensor, and a
/// number of the column.
template <class Term>
[[gnu::always_inline]] inline void sum_columns(const ChannelRuns& runs, Term term, double* sums,
                                               float* columns) {
  for (std::int64_t channel = 0; channel < runs.channels; ++channel) sums[channel] = 0;
  for (std::int64_t first = 0; first < runs.samples; first += most_samples) {
    const std::int64_t left = runs.samples - first;
    const std::int64_t samples = left < most_samples ? left : most_samples;
    std::int64_t at = 0;
    for (; at + columns_at_once <= columns_of(runs); at += columns_at_once)
      add_columns<columns_at_once / vector_size>(runs, first, samples, at, term, columns);
    for (; at + vector_size <= columns_of(runs); at += vector_size)
      add_columns<1>(runs, first, samples, at, term, columns);
    add_last_columns(runs, first, samples, at, term, columns);
    for (std::int64_t channel = 0; channel < runs.channels; ++channel)
      sums[channel] += sum_of(runs.length, columns + channel * runs.length);
  }
}

void channel_sums(const ChannelRuns& runs, const float* x, double* sums, float* workspace) {
  if (!has_long_runs(runs))
    return sum_columns(
        runs, [=](auto element, auto) { return element(x); }, sums, workspace);
  for (std::int64_t channel = 0; channel < runs.channels; ++channel) sums[channel] = 0;
  for_each_run(runs, [&](std::int64_t channel, std::int64_t at) {
    sums[channel] += long_sum(runs.length, x + at);
  });
}

void squared_deviations(const ChannelRuns& runs, const float* mean, const float* x, double* sums,
                        float* workspace) {
  const auto square = [](auto deviation) { return deviation * deviation; };
  if (!has_long_runs(runs)) {
    const float* const means = spread(runs, mean, workspace + columns_of(runs));
    return sum_columns(
        runs, [=](auto element, auto of_column) { return square(element(x) - of_column(means)); },
        sums, workspace);
  }
  for (std::int64_t channel = 0; channel < runs.channels; ++channel) sums[channel] = 0;
  for_each_run(runs, [&](std::int64_t channel, std::int64_t at) {
    sums[channel] += long_sum_of(
        runs.length, [=, m = mean[channel]](auto element) { return square(element - m); }, x + at);
  });
}

void inverse_stds(std::int64_t channels, double eps, const float* variance, float* inverse) {
  for_each_element(channels, [=](std::int64_t i) {
    inverse[i] = static_cast<float>(1 / __builtin_sqrt(static_cast<double>(variance[i]) + eps));
  });
}

void normalise(const ChannelRuns& runs, const float* mean, const float* factor, const float* shift,
               const float* x, float* y, float* workspace) {
  if (has_long_runs(runs))
    return for_each_run(runs, [&](std::int64_t channel, std::int64_t at) {
      const float m = mean[channel], f = factor[channel], s = shift[channel];
      for_each_element(runs.length, [=, from = x + at, to = y + at](std::int64_t i) {
        to[i] = multiply_add(from[i] - m, f, s);
      });
    });
  const std::int64_t columns = columns_of(runs);
  const float* const means = spread(runs, mean, workspace);
  const float* const factors = spread(runs, factor, workspace + columns);
  const float* const shifts = spread(runs, shift, workspace + 2 * columns);
  for (std::int64_t sample = 0; sample < runs.samples; ++sample)
    for_each_element(columns, [=, from = x + sample * runs.sample,
                               to = y + sample * runs.sample](std::int64_t i) {
      to[i] = multiply_add(from[i] - means[i], factors[i], shifts[i]);
    });
}

void gradient_sums(const ChannelRuns& runs, const float* mean, const float* dy, const float* x,
                   double* dy_sums, double* product_sums, float* workspace) {
  channel_sums(runs, dy, dy_sums, workspace);
  if (!has_long_runs(runs)) {
    const float* const means = spread(runs, mean, workspace + columns_of(runs));
    return sum_columns(
        runs,
        [=](auto element, auto of_column) { return element(dy) * (element(x) - of_column(means)); },
        product_sums, workspace);
  }
  for (std::int64_t channel = 0; channel < runs.channels; ++channel) product_sums[channel] = 0;
  for_each_run(runs, [&](std::int64_t channel, std::int64_t at) {
    const auto product = [m = mean[channel]](auto d, auto element) { return d * (element - m); };
    product_sums[channel] += long_sum_of(runs.length, product, dy + at, x + at);
  });
}

void input_gradient(const ChannelRuns& runs, const float* mean, const float* factor,
                    const float* slope, const float* offset, const float* dy, const float* x,
                    float* dx, float* workspace) {
  if (has_long_runs(runs))
    return for_each_run(runs, [&](std::int64_t channel, std::int64_t at) {
      const float m = mean[channel], f = factor[channel], s = slope[channel], o = offset[channel];
      for_each_element(runs.length, [=, d = dy + at, from = x + at, to = dx + at](std::int64_t i) {
        to[i] = d[i] * f - multiply_add(from[i] - m, s, o);
      });
    });
  const std::int64_t columns = columns_of(runs);
  const float* const means = spread(runs, mean, workspace);
  const float* const factors = spread(runs, factor, workspace + columns);
  const float* const slopes = spread(runs, slope, workspace + 2 * columns);
  const float* const offsets = spread(runs, offset, workspace + 3 * columns);
  for (std::int64_t sample = 0; sample < runs.samples; ++sample) {
    const std::int64_t at = sample * runs.sample;
    for_each_element(columns, [=, d = dy + at, from = x + at, to = dx + at](std::int64_t i) {
      to[i] = d[i] * factors[i] - multiply_add(from[i] - means[i], slopes[i], offsets[i]);
    });
  }
}

}  // namespace

extern const ChannelNormKernels channel_norm_kernels;
const ChannelNormKernels channel_norm_kernels{.sums = channel_sums,
                                              .squared_deviations = squared_deviations,
                                              .inverse_stds = inverse_stds,
                                              .normalise = normalise,
                                              .gradient_sums = gradient_sums,
                                              .input_gradient = input_gradient};

}  // namespace penstock::graph::PENSTOCK_ISA
