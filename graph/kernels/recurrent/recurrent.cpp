#include "graph/kernels/recurrent/recurrent.hpp"

#include "graph/kernels/vectors/each_element.hpp"
#include "graph/kernels/vectors/exponential.hpp"

namespace penstock::graph::PENSTOCK_ISA {
namespace {

/// Returns the slope of the logistic function where its value is `y`.
[[gnu::always_inline]] inline float logistic_slope(float y) {
  return y * (1.0f - y);
}

void lstm(const LstmStep& s) {
  const std::int64_t f_at = s.width, g_at = 2 * s.width, o_at = 3 * s.width;
  for_each_element(s.width, [=](std::int64_t k) {
    const auto sum = [=](std::int64_t at) { return s.from_input[at + k] + s.from_hidden[at + k]; };
    const float i = logistic(sum(0)), f = logistic(sum(f_at));
    const float g = hyperbolic_tangent(sum(g_at)), o = logistic(sum(o_at));
    const float c = f * s.cell[k] + i * g;
    s.gates[k] = i;
    s.gates[f_at + k] = f;
    s.gates[g_at + k] = g;
    s.gates[o_at + k] = o;
    s.cell[k] = c;
    s.hidden[k] = o * hyperbolic_tangent(c);
  });
}

void lstm_gradient(const LstmStepGradient& s) {
  const std::int64_t f_at = s.width, g_at = 2 * s.width, o_at = 3 * s.width;
  for_each_element(s.width, [=](std::int64_t k) {
    const float i = s.gates[k], f = s.gates[f_at + k], g = s.gates[g_at + k], o = s.gates[o_at + k];
    const float squashed = hyperbolic_tangent(s.cell[k]), dh = s.dhidden[k] + s.dy[k];
    const float dc = s.dcell[k] + dh * o * (1.0f - squashed * squashed);
    s.dsums[k] = dc * g * logistic_slope(i);
    s.dsums[f_at + k] = dc * s.old_cell[k] * logistic_slope(f);
    s.dsums[g_at + k] = dc * i * (1.0f - g * g);
    s.dsums[o_at + k] = dh * squashed * logistic_slope(o);
    s.dcell[k] = dc * f;
    s.dhidden[k] = 0.0f;
  });
}

void gru(const GruStep& s) {
  const std::int64_t z_at = s.width, n_at = 2 * s.width;
  for_each_element(s.width, [=](std::int64_t k) {
    const float r = logistic(s.from_input[k] + s.from_hidden[k]);
    const float z = logistic(s.from_input[z_at + k] + s.from_hidden[z_at + k]);
    const float from = s.from_hidden[n_at + k];
    const float n = hyperbolic_tangent(s.from_input[n_at + k] + r * from);
    s.gates[k] = r;
    s.gates[z_at + k] = z;
    s.gates[n_at + k] = n;
    s.candidate[k] = from;
    s.hidden[k] = n + z * (s.hidden[k] - n);
  });
}

void gru_gradient(const GruStepGradient& s) {
  const std::int64_t z_at = s.width, n_at = 2 * s.width;
  for_each_element(s.width, [=](std::int64_t k) {
    const float r = s.gates[k], z = s.gates[z_at + k], n = s.gates[n_at + k];
    const float dh = s.dhidden[k] + s.dy[k];
    const float dn = dh * (1.0f - z) * (1.0f - n * n);
    const float dr = dn * s.candidate[k] * logistic_slope(r);
    const float dz = dh * (s.old_hidden[k] - n) * logistic_slope(z);
    s.dinput[k] = dr;
    s.dinput[z_at + k] = dz;
    s.dinput[n_at + k] = dn;
    s.dsums[k] = dr;
    s.dsums[z_at + k] = dz;
    s.dsums[n_at + k] = dn * r;
    s.dhidden[k] = dh * z;
  });
}

void tanh(std::int64_t width, const float* a, const float* b, float* hidden) {
  for_each_element(width, [=](std::int64_t k) { hidden[k] = hyperbolic_tangent(a[k] + b[k]); });
}

void relu(std::int64_t width, const float* a, const float* b, float* hidden) {
  for_each_element(width, [=](std::int64_t k) {
    const float sum = a[k] + b[k];
    hidden[k] = sum < 0.0f ? 0.0f : sum;
  });
}

void tanh_gradient(std::int64_t width, const float* hidden, const float* dy, float* dhidden,
                   float* dsums) {
  for_each_element(width, [=](std::int64_t k) {
    dsums[k] = (dhidden[k] + dy[k]) * (1.0f - hidden[k] * hidden[k]);
    dhidden[k] = 0.0f;
  });
}

void relu_gradient(std::int64_t width, const float* hidden, const float* dy, float* dhidden,
                   float* dsums) {
  for_each_element(width, [=](std::int64_t k) {
    const float dh = dhidden[k] + dy[k];
    dsums[k] = hidden[k] <= 0.0f ? 0.0f : dh;
    dhidden[k] = 0.0f;
  });
}

}  // namespace

extern const RecurrentKernels recurrent_kernels;
const RecurrentKernels recurrent_kernels{.lstm = lstm,
                                         .lstm_gradient = lstm_gradient,
                                         .gru = gru,
                                         .gru_gradient = gru_gradient,
                                         .tanh = tanh,
                                         .relu = relu,
                                         .tanh_gradient = tanh_gradient,
                                         .relu_gradient = relu_gradient};

}  // namespace penstock::graph::PENSTOCK_ISA
