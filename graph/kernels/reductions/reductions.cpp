#include "graph/kernels/reductions/reductions.hpp"

#include "graph/kernels/vectors/each_element.hpp"
#include "graph/kernels/vectors/sums.hpp"

namespace penstock::graph::PENSTOCK_ISA {
namespace {

double sum(std::int64_t count, const float* x) {
  return long_sum(count, x);
}

void add_to(std::int64_t count, const float* x, double* sums) {
  for_each_element(count, [=](std::int64_t i) { sums[i] += static_cast<double>(x[i]); });
}

void round(std::int64_t count, const double* x, float* y) {
  for_each_element(count, [=](std::int64_t i) { y[i] = static_cast<float>(x[i]); });
}

/// Computes `sums` [columns], the sums of the first `columns` columns of `x` [rows,pitch], by
/// adding row after row.
void column_sums(std::int64_t rows, std::int64_t columns, std::int64_t pitch, const float* x,
                 float* sums) {
  for_each_element(columns, [=](std::int64_t column) { sums[column] = 0; });
  for (std::int64_t row = 0; row < rows; ++row)
    for_each_element(columns, [=, from = x + row * pitch](std::int64_t column) {
      sums[column] += from[column];
    });
}

/// Returns the best of the elements of `x`, of which there is at least one. `wins` says whether the
/// first of two numbers is better; a NaN is better than any number.
template <class Wins>
[[gnu::always_inline]] inline float best(std::int64_t count, const float* x, Wins wins) {
  constexpr std::int64_t lanes = 16;
  float each[lanes];
  for (std::int64_t i = 0; i < lanes; ++i) each[i] = x[i < count ? i : 0];
  const auto better = [=](float a, float b) { return a != a || wins(a, b) ? a : b; };
  for (std::int64_t i = lanes; i < count; i += lanes) {
    const std::int64_t left = count - i;
    for_each_element(left < lanes ? left : lanes, [&](std::int64_t lane) {
      const float other = x[i + lane];
      each[lane] = each[lane] != each[lane] ? each[lane] : better(other, each[lane]);
    });
  }
  float result = each[0];
  for (std::int64_t i = 1; i < lanes; ++i)
    result = result != result ? result : better(each[i], result);
  return result;
}

float largest_element(std::int64_t count, const float* x) {
  return best(count, x, [](float a, float b) { return a > b; });
}

float smallest_element(std::int64_t count, const float* x) {
  return best(count, x, [](float a, float b) { return a < b; });
}

void channel_sums(std::int64_t samples, std::int64_t channels, std::int64_t inner, Part part,
                  const float* x, float* sums) {
  const auto [begin, end] = within(part, channels);
  if (inner == 1) return column_sums(samples, end - begin, channels, x + begin, sums + begin);
  for (std::int64_t channel = begin; channel < end; ++channel) {
    double sum = 0;
    for (std::int64_t sample = 0; sample < samples; ++sample)
      sum += long_sum(inner, x + (sample * channels + channel) * inner);
    sums[channel] = static_cast<float>(sum);
  }
}

}  // namespace

extern const ReductionKernels reduction_kernels;
const ReductionKernels reduction_kernels{.largest = largest_element,
                                         .smallest = smallest_element,
                                         .sum = sum,
                                         .add_to = add_to,
                                         .round = round,
                                         .channel_sums = channel_sums};

}  // namespace penstock::graph::PENSTOCK_ISA
