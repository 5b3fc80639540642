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
/// `at` on that fill `vectors` Vectors; sum_columns() says what `terms` are. The sums of a term
/// come behind those of all columns of the term before it.
template <int vectors, class... Terms>
[[gnu::always_inline]] inline void add_columns(const ChannelRuns& runs, std::int64_t first,
                                               std::int64_t samples, std::int64_t at, float* sums,
                                               Terms... terms) {
  Vector totals[sizeof...(Terms)][vectors] = {};
  for (std::int64_t sample = first; sample < first + samples; ++sample)
    unrolled<vectors>([&](auto v) {
      const std::int64_t column = at + v * vector_size;
      const auto element = [=](const float* x) { return load(x + sample * runs.sample + column); };
      const auto of_column = [=](const float* numbers) { return load(numbers + column); };
      int i = 0;
      ((totals[i++][v] += terms(element, of_column)), ...);
    });
  for (const auto& total : totals) {
    unrolled<vectors>([&](auto v) { store(sums + at + v * vector_size, total[v]); });
    sums += columns_of(runs);
  }
}

/// Does the same in the last columns, from column `at` on, which do not fill a Vector.
template <class... Terms>
[[gnu::always_inline]] inline void add_last_columns(const ChannelRuns& runs, std::int64_t first,
                                                    std::int64_t samples, std::int64_t at,
                                                    float* sums, Terms... terms) {
  for (std::int64_t column = at; column < columns_of(runs); ++column) {
    float totals[sizeof...(Terms)] = {};
    for (std::int64_t sample = first; sample < first + samples; ++sample) {
      const auto element = [=](const float* x) { return x[sample * runs.sample + column]; };
      const auto of_column = [=](const float* numbers) { return numbers[column]; };
      int i = 0;
      ((totals[i++] += terms(element, of_column)), ...);
    }
    float* sum = sums + column;
    for (const float total : totals) {
      *sum = total;
      sum += columns_of(runs);
    }
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

/// Computes the sums of all channels, column by column. `columns` has a float for each column and
/// term. `term(of_element, of_column)` is what is added to `sums` of that term: its arguments read
/// an element of a tensor, and a number of the column.
template <class... Terms>
[[gnu::always_inline]] inline void sum_columns(const ChannelRuns& runs, float* columns,
                                               double* const (&sums)[sizeof...(Terms)],
                                               Terms... terms) {
  for (double* const of_term : sums)
    for (std::int64_t channel = 0; channel < runs.channels; ++channel) of_term[channel] = 0;
  for (std::int64_t first = 0; first < runs.samples; first += most_samples) {
    const std::int64_t left = runs.samples - first;
    const std::int64_t samples = left < most_samples ? left : most_samples;
    std::int64_t at = 0;
    for (; at + columns_at_once <= columns_of(runs); at += columns_at_once)
      add_columns<columns_at_once / vector_size>(runs, first, samples, at, columns, terms...);
    for (; at + vector_size <= columns_of(runs); at += vector_size)
      add_columns<1>(runs, first, samples, at, columns, terms...);
    add_last_columns(runs, first, samples, at, columns, terms...);
    const float* column = columns;
    for (double* const of_term : sums)
      for (std::int64_t channel = 0; channel < runs.channels; ++channel, column += runs.length)
        of_term[channel] += sum_of(runs.length, column);
  }
}

void channel_sums(const ChannelRuns& runs, const float* x, double* sums, float* workspace) {
  if (!has_long_runs(runs))
    return sum_columns(runs, workspace, {sums}, [=](auto element, auto) { return element(x); });
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
    return sum_columns(runs, workspace, {sums}, [=](auto element, auto of_column) {
      return square(element(x) - of_column(means));
    });
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

// The clamps below have the formulas of relu and hardtanh. `gradient(value, dy)` takes Vectors as
// well as floats; `value()` is what was clamped.
struct NoClamp {
  static constexpr bool reads_value = false;

  [[gnu::always_inline]] float value(float x) const { return x; }
  template <class Value, class T>
  [[gnu::always_inline]] T gradient(Value, T dy) const {
    return dy;
  }
};

struct ReluClamp {
  static constexpr bool reads_value = true;

  [[gnu::always_inline]] float value(float x) const { return x < 0.0f ? 0.0f : x; }
  template <class Value, class T>
  [[gnu::always_inline]] T gradient(Value value, T dy) const {
    return value() <= 0.0f ? T{} : dy;
  }
};

struct HardtanhClamp {
  static constexpr bool reads_value = true;

  [[gnu::always_inline]] float value(float x) const {
    const float above = x < low ? low : x;
    return above > high ? high : above;
  }
  template <class Value, class T>
  [[gnu::always_inline]] T gradient(Value value, T dy) const {
    const T x = value();
    return ((x > low) & (x < high)) ? dy : T{};
  }

  float low, high;
};

/// Calls `work(clamp)` with the type that has the formulas of `clamp`.
template <class Work>
[[gnu::always_inline]] inline void with_clamp(const NormClamp& clamp, Work work) {
  switch (clamp.kind) {
    case NormClamp::Kind::none:
      return work(NoClamp{});
    case NormClamp::Kind::relu:
      return work(ReluClamp{});
    case NormClamp::Kind::hardtanh:
      return work(HardtanhClamp{clamp.low, clamp.high});
  }
}

/// A Scale has what normalises the runs, for each channel or, if it is spread, for each column.
struct Scale {
  const float *mean, *factor, *shift;
};

/// Spreads the mean and, if `clamp` reads values, the factor and the shift of a norm over columns,
/// which take the memory from `columns` on.
template <class Clamp>
[[gnu::always_inline]] inline Scale spread_scale(const ChannelRuns& runs, Clamp, const Scale& scale,
                                                 float* columns) {
  const float* const means = spread(runs, scale.mean, columns);
  if constexpr (!Clamp::reads_value) return {means, means, means};
  const std::int64_t count = columns_of(runs);
  return {means, spread(runs, scale.factor, columns + count),
          spread(runs, scale.shift, columns + 2 * count)};
}

/// Does what `normalise` does; `finish(y, i)` says what becomes of the normalised element `i`.
template <class Finish>
[[gnu::always_inline]] inline void normalise_and(const ChannelRuns& runs, const float* mean,
                                                 const float* factor, const float* shift,
                                                 const float* x, Finish finish, float* y,
                                                 float* workspace) {
  if (has_long_runs(runs))
    return for_each_run(runs, [&](std::int64_t channel, std::int64_t at) {
      const float m = mean[channel], f = factor[channel], s = shift[channel];
      for_each_element(runs.length, [=, from = x + at, to = y + at](std::int64_t i) {
        to[i] = finish(multiply_add(from[i] - m, f, s), at + i);
      });
    });
  const std::int64_t columns = columns_of(runs);
  const float* const means = spread(runs, mean, workspace);
  const float* const factors = spread(runs, factor, workspace + columns);
  const float* const shifts = spread(runs, shift, workspace + 2 * columns);
  for (std::int64_t sample = 0; sample < runs.samples; ++sample) {
    const std::int64_t at = sample * runs.sample;
    for_each_element(columns, [=, from = x + at, to = y + at](std::int64_t i) {
      to[i] = finish(multiply_add(from[i] - means[i], factors[i], shifts[i]), at + i);
    });
  }
}

void normalise(const ChannelRuns& runs, const float* mean, const float* factor, const float* shift,
               const float* x, const float* addend, NormClamp how, float* y, float* workspace) {
  with_clamp(how, [&](auto clamp) {
    if (addend)
      normalise_and(
          runs, mean, factor, shift, x,
          [=](float value, std::int64_t i) { return clamp.value(value + addend[i]); }, y,
          workspace);
    else
      normalise_and(
          runs, mean, factor, shift, x,
          [=](float value, std::int64_t) { return clamp.value(value); }, y, workspace);
  });
}

/// Does what gradient_sums() does, column by column.
template <class Clamp>
[[gnu::always_inline]] inline void sum_gradient_columns(const ChannelRuns& runs, Clamp clamp,
                                                        const Scale& scale, const float* dy,
                                                        const float* x, double* d_sums,
                                                        double* product_sums, float* workspace) {
  const Scale of = spread_scale(runs, clamp, scale, workspace + 2 * columns_of(runs));
  const auto gradient = [=](auto element, auto of_column) {
    const auto value = [=] {
      return multiply_add(element(x) - of_column(of.mean), of_column(of.factor),
                          of_column(of.shift));
    };
    return clamp.gradient(value, element(dy));
  };
  sum_columns(runs, workspace, {d_sums, product_sums}, gradient, [=](auto element, auto of_column) {
    return gradient(element, of_column) * (element(x) - of_column(of.mean));
  });
}

/// Does what gradient_sums() does with long runs.
template <class Clamp>
[[gnu::always_inline]] inline void sum_long_gradients(const ChannelRuns& runs, Clamp clamp,
                                                      const Scale& scale, const float* dy,
                                                      const float* x, double* d_sums,
                                                      double* product_sums) {
  for (std::int64_t channel = 0; channel < runs.channels; ++channel)
    d_sums[channel] = product_sums[channel] = 0;
  for_each_run(runs, [&](std::int64_t channel, std::int64_t at) {
    const float m = scale.mean[channel];
    const float f = Clamp::reads_value ? scale.factor[channel] : 0;
    const float s = Clamp::reads_value ? scale.shift[channel] : 0;
    const auto gradient = [=](auto d, auto element) {
      using T = decltype(element);
      return clamp.gradient([=] { return multiply_add(element - m, f - T{}, s - T{}); }, d);
    };
    d_sums[channel] += long_sum_of(runs.length, gradient, dy + at, x + at);
    product_sums[channel] += long_sum_of(
        runs.length, [=](auto d, auto element) { return gradient(d, element) * (element - m); },
        dy + at, x + at);
  });
}

void gradient_sums(const ChannelRuns& runs, const float* mean, const ClampedGradient& gradient,
                   const float* x, double* d_sums, double* product_sums, float* workspace) {
  const Scale scale{mean, gradient.factor, gradient.shift};
  with_clamp(gradient.clamp, [&](auto clamp) {
    if (has_long_runs(runs))
      sum_long_gradients(runs, clamp, scale, gradient.dy, x, d_sums, product_sums);
    else
      sum_gradient_columns(runs, clamp, scale, gradient.dy, x, d_sums, product_sums, workspace);
  });
}

/// Does what input_gradient() does; `scale` has no shift if `clamp` reads no values.
template <class Clamp>
[[gnu::always_inline]] inline void gradient_of_input(const ChannelRuns& runs, Clamp clamp,
                                                     const Scale& scale, const float* slope,
                                                     const float* offset, const float* dy,
                                                     const float* x, float* dx, float* workspace) {
  const auto gradient = [=](float deviation, float factor, float shift, float d) {
    return clamp.gradient([=] { return multiply_add(deviation, factor, shift); }, d);
  };
  if (has_long_runs(runs))
    return for_each_run(runs, [&](std::int64_t channel, std::int64_t at) {
      const float mean = scale.mean[channel], factor = scale.factor[channel];
      const float shift = Clamp::reads_value ? scale.shift[channel] : 0;
      const float s = slope[channel], o = offset[channel];
      for_each_element(runs.length, [=, d = dy + at, from = x + at, to = dx + at](std::int64_t i) {
        const float deviation = from[i] - mean;
        to[i] = gradient(deviation, factor, shift, d[i]) * factor - multiply_add(deviation, s, o);
      });
    });
  const std::int64_t columns = columns_of(runs);
  const float* const means = spread(runs, scale.mean, workspace);
  const float* const factors = spread(runs, scale.factor, workspace + columns);
  const float* const slopes = spread(runs, slope, workspace + 2 * columns);
  const float* const offsets = spread(runs, offset, workspace + 3 * columns);
  const float* const shifts =
      Clamp::reads_value ? spread(runs, scale.shift, workspace + 4 * columns) : means;
  for (std::int64_t sample = 0; sample < runs.samples; ++sample) {
    const std::int64_t at = sample * runs.sample;
    for_each_element(columns, [=, d = dy + at, from = x + at, to = dx + at](std::int64_t i) {
      const float deviation = from[i] - means[i];
      to[i] = gradient(deviation, factors[i], shifts[i], d[i]) * factors[i] -
              multiply_add(deviation, slopes[i], offsets[i]);
    });
  }
}

void input_gradient(const ChannelRuns& runs, const float* mean, const float* factor,
                    const float* slope, const float* offset, const ClampedGradient& gradient,
                    const float* x, float* dx, float* workspace) {
  with_clamp(gradient.clamp, [&](auto clamp) {
    gradient_of_input(runs, clamp, {mean, factor, gradient.shift}, slope, offset, gradient.dy, x,
                      dx, workspace);
  });
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
