// finish() and add_addend() do to sums what an Epilogue says, with the bits that
// batch_norm_inference, add, relu and hardtanh have. The header is for sources in which the
// compiler fuses a product and a sum wherever the instruction set can do so, as multiply_add() asks
// for in other sources.
#pragma once

#include "graph/kernels/vectors/each_element.hpp"
#include "graph/kernels/vectors/epilogue.hpp"
#include "graph/kernels/vectors/vector.hpp"

namespace penstock::graph::PENSTOCK_ISA {

/// Finishes several Vectors of sums, but adds no addend. `for_each(work)` calls `work(sum, at...)`
/// for each of them, and `numbers_of(numbers, at...)` returns, for the planes to which the elements
/// of that Vector belong, their numbers of an array of the Epilogue.
template <class ForEach, class NumbersOf>
[[gnu::always_inline]] inline void finish(const Epilogue& epilogue, ForEach for_each,
                                          NumbersOf numbers_of) {
  if (epilogue.mean)
    for_each([&](Vector& sum, auto... at) {
      sum = (sum - numbers_of(epilogue.mean, at...)) * numbers_of(epilogue.factor, at...) +
            numbers_of(epilogue.shift, at...);
    });
  if (epilogue.low > -__builtin_inff())
    for_each(
        [low = broadcast(epilogue.low)](Vector& sum, auto...) { sum = sum < low ? low : sum; });
  if (epilogue.high < __builtin_inff())
    for_each(
        [high = broadcast(epilogue.high)](Vector& sum, auto...) { sum = sum > high ? high : sum; });
}

/// Returns `x`, or the bound that it is beyond. A NaN stays.
[[gnu::always_inline]] inline float clamped(float x, float low, float high) {
  const float above = x < low ? low : x;
  return above > high ? high : above;
}

/// Adds the addend, if there is one, to `count` neighbouring sums that begin at `sums`, and clamps
/// them. The sums were finished as before_addend() says, and are in the tensor `target`.
inline void add_addend(const Epilogue& epilogue, std::int64_t count, const float* target,
                       float* sums) {
  if (!epilogue.addend) return;
  const float low = epilogue.low, high = epilogue.high;
  for_each_element(count, [=, addend = epilogue.addend + (sums - target)](std::int64_t i) {
    sums[i] = clamped(sums[i] + addend[i], low, high);
  });
}

}  // namespace penstock::graph::PENSTOCK_ISA
