#include "graph/kernels/updates/updates.hpp"

#include "graph/kernels/vectors/each_element.hpp"
#include "graph/kernels/vectors/vector.hpp"

namespace penstock::graph::PENSTOCK_ISA {
namespace {

/// Returns a·b + c, rounded once. If the instruction set has no instruction that rounds once, the
/// function computes in double, where the product is exact. The sum is then rounded twice, to
/// double and to f32, which changes the result about once in a billion times.
[[gnu::always_inline]] inline float rounded_once(float a, float b, float c) {
#ifdef __FP_FAST_FMAF
  return __builtin_fmaf(a, b, c);
#else
  return static_cast<float>(static_cast<double>(a) * static_cast<double>(b) +
                            static_cast<double>(c));
#endif
}

/// Calls `work(i, g)` with each element g of the gradient, scaled and clipped.
template <class Work>
[[gnu::always_inline]] inline void for_each_gradient(std::int64_t count,
                                                     const SummedGradient& gradient, Work work) {
  const auto [sum, scale, clip] = gradient;
  for_each_element(count, [=, from = sum, by = scale, limit = clip](std::int64_t i) {
    work(i, from[i] * by * limit);
  });
}

void descend(std::int64_t count, const DescentConstants& constants, const SummedGradient& gradient,
             float* w) {
  const float rate = constants.rate, decay = constants.decay;
  for_each_gradient(count, gradient, [=](std::int64_t i, float g) {
    w[i] = rounded_once(-rate, rounded_once(decay, w[i], g), w[i]);
  });
}

template <bool nesterov>
void descend_as(std::int64_t count, const DescentConstants& c, const SummedGradient& gradient,
                float* w, float* v) {
  const float rate = c.rate, decay = c.decay, momentum = c.momentum, inflow = c.inflow;
  const float lookahead = c.lookahead;
  for_each_gradient(count, gradient, [=](std::int64_t i, float sum) {
    const float g = rounded_once(decay, w[i], sum);
    const float velocity = rounded_once(inflow, g, momentum * v[i]);
    v[i] = velocity;
    w[i] = rounded_once(
        -rate, nesterov ? rounded_once(momentum, velocity, lookahead * g) : velocity, w[i]);
  });
}

void descend_with_momentum(std::int64_t count, const DescentConstants& constants,
                           const SummedGradient& gradient, float* w, float* v) {
  (constants.nesterov ? descend_as<true> : descend_as<false>)(count, constants, gradient, w, v);
}

[[gnu::always_inline]] inline void follow(const MomentConstants& c, float g, float& m, float& v) {
  m = rounded_once(c.inflow1, g, c.beta1 * m);
  v = c.beta2 * v + c.inflow2 * g * g;
}

void adam(std::int64_t count, const AdamConstants& constants, const SummedGradient& gradient,
          float* w, float* m, float* v) {
  for_each_gradient(count, gradient, [=, c = constants](std::int64_t i, float g) {
    follow(c.moments, g + c.l2 * w[i], m[i], v[i]);
    const float denominator = __builtin_sqrtf(v[i]) / c.correction2_root + c.eps;
    w[i] = w[i] * c.keep - c.rate * m[i] / denominator;
  });
}

template <bool centered, bool with_momentum>
void rmsprop_as(std::int64_t count, const RmsPropConstants& constants,
                const SummedGradient& gradient, float* w, float* square, float* mean,
                float* buffer) {
  for_each_gradient(count, gradient, [=, c = constants](std::int64_t i, float sum) {
    const float g = sum + c.decay * w[i];
    float variance = square[i] = c.alpha * square[i] + c.inflow * g * g;
    if constexpr (centered) {
      mean[i] = c.alpha * mean[i] + c.inflow * g;
      const float difference = variance - mean[i] * mean[i];
      variance = difference < 0.0f ? 0.0f : difference;
    }
    float change = c.rate_in * g / (__builtin_sqrtf(variance + c.eps_in) + c.eps_out);
    if constexpr (with_momentum) change = buffer[i] = c.momentum * buffer[i] + change;
    w[i] -= c.rate_out * change;
  });
}

void rmsprop(std::int64_t count, const RmsPropConstants& constants, const SummedGradient& gradient,
             float* w, float* square, float* mean, float* buffer) {
  constexpr decltype(&rmsprop) variants[2][2] = {
      {rmsprop_as<false, false>, rmsprop_as<false, true>},
      {rmsprop_as<true, false>, rmsprop_as<true, true>}};
  variants[mean != nullptr][buffer != nullptr](count, constants, gradient, w, square, mean, buffer);
}

/// Returns the sum of the squares of scale·x. The function adds to 16 partial sums, which are
/// independent of each other and stay in registers.
double block_squared_norm(std::int64_t count, float scale, const float* x) {
  using Doubles = double __attribute__((vector_size(PENSTOCK_VECTOR_BYTES)));
  constexpr int partial_sums = 16, size = PENSTOCK_VECTOR_BYTES / 8, vectors = partial_sums / size;
  Doubles sums[vectors] = {};
  std::int64_t i = 0;
  for (; i + partial_sums <= count; i += partial_sums)
    unrolled<vectors>([&](auto v) {
      const HalfVector scaled = load<HalfVector>(x + i + v * size) * scale;
      const Doubles elements = __builtin_convertvector(scaled, Doubles);
      sums[v] += elements * elements;
    });
  double single[partial_sums];
  __builtin_memcpy(single, sums, sizeof single);
  for (int part = 0; i < count; ++i, ++part) {
    const double element = static_cast<double>(x[i] * scale);
    single[part] += element * element;
  }
  double sum = 0;
  for (const double part : single) sum += part;
  return sum;
}

double squared_norm(std::int64_t count, float scale, const float* x) {
  double sum = 0;
  for (std::int64_t i = 0; i < count; i += norm_block)
    sum += block_squared_norm(count - i < norm_block ? count - i : norm_block, scale, x + i);
  return sum;
}

/// Returns the direction of LAMB for one element. A step subtracts a multiple of the direction from
/// `w`.
[[gnu::always_inline]] inline float lamb_direction(const LambConstants& c, float w, float m,
                                                   float v) {
  return m / c.correction1 / (__builtin_sqrtf(v) / c.correction2_root + c.eps) + c.decay * w;
}

double lamb_moments(std::int64_t count, const LambConstants& constants,
                    const SummedGradient& gradient, const float* w, float* m, float* v) {
  float block[norm_block];
  double sum = 0;
  for (std::int64_t begin = 0; begin < count; begin += norm_block) {
    const std::int64_t size = count - begin < norm_block ? count - begin : norm_block;
    const SummedGradient part{gradient.sum + begin, gradient.scale, gradient.clip};
    for_each_gradient(size, part, [=, c = constants, to = &block[0]](std::int64_t i, float g) {
      follow(c.moments, g, m[begin + i], v[begin + i]);
      to[i] = lamb_direction(c, w[begin + i], m[begin + i], v[begin + i]);
    });
    sum += block_squared_norm(size, 1, block);
  }
  return sum;
}

void lamb_directions(std::int64_t count, const LambConstants& constants, const float* w,
                     const float* m, const float* v, float* directions) {
  for_each_element(count, [=, c = constants](std::int64_t i) {
    directions[i] = lamb_direction(c, w[i], m[i], v[i]);
  });
}

void lamb_step(std::int64_t count, const LambConstants& constants, float rate, float* w,
               const float* m, const float* v) {
  for_each_element(count, [=, c = constants](std::int64_t i) {
    w[i] -= rate * lamb_direction(c, w[i], m[i], v[i]);
  });
}

}  // namespace

extern const UpdateKernels update_kernels;
const UpdateKernels update_kernels{.descend = descend,
                                   .descend_with_momentum = descend_with_momentum,
                                   .adam = adam,
                                   .rmsprop = rmsprop,
                                   .lamb_moments = lamb_moments,
                                   .lamb_directions = lamb_directions,
                                   .lamb_step = lamb_step,
                                   .squared_norm = squared_norm};

}  // namespace penstock::graph::PENSTOCK_ISA
