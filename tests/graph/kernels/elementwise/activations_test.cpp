// These tests check the activations, which are functions of single elements, under every
// instruction set that the machine has.
#include "graph/kernels/elementwise/activations.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "graph/kernels/kernel_table.hpp"

namespace penstock::graph {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

double below(double x) {
  return 0.5 * std::erfc(-x / std::sqrt(2.0));
}
double density(double x) {
  return std::exp(-0.5 * x * x) / std::sqrt(2 * std::acos(-1.0));
}
double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

/// A Row has a function and its definition in double.
struct Row {
  const char* name;
  ActivationKernels::Function ActivationKernels::*kernel;
  double (*exact)(double x);
  double error;          ///< This is the largest error, relative to the larger of |result| and 1.
  float at_infinity[2];  ///< These are the results for -inf and for inf.
};

const Row rows[] = {
    {"tanh", &ActivationKernels::tanh, [](double x) { return std::tanh(x); }, 2e-7, {-1, 1}},
    {"sigmoid", &ActivationKernels::sigmoid, sigmoid, 2e-7, {0, 1}},
    {"silu",
     &ActivationKernels::silu,
     [](double x) { return x * sigmoid(x); },
     3e-7,
     {nan, infinity}},
    {"gelu",
     &ActivationKernels::gelu,
     [](double x) { return x * below(x); },
     5e-7,
     {nan, infinity}},
    {"relu", &ActivationKernels::relu, [](double x) { return x < 0 ? 0 : x; }, 0, {0, infinity}},
};

struct GradientRow {
  const char* name;
  ActivationKernels::Gradient ActivationKernels::*kernel;
  double (*exact)(double from);
  double error;
};

const GradientRow gradient_rows[] = {
    {"tanh", &ActivationKernels::tanh_gradient, [](double y) { return 1 - y * y; }, 2e-7},
    {"sigmoid", &ActivationKernels::sigmoid_gradient, [](double y) { return y * (1 - y); }, 2e-7},
    {"silu", &ActivationKernels::silu_gradient,
     [](double x) { return sigmoid(x) * (1 + x * (1 - sigmoid(x))); }, 1e-6},
    {"gelu", &ActivationKernels::gelu_gradient, [](double x) { return below(x) + x * density(x); },
     5e-7},
    {"relu", &ActivationKernels::relu_gradient, [](double x) { return x > 0 ? 1.0 : 0.0; }, 0},
};

/// Returns points from -100 to 100, which are closer together near 0.
std::vector<float> points() {
  std::vector<float> result;
  for (int i = -5000; i <= 5000; ++i) {
    const double t = i / 5000.0;
    result.push_back(static_cast<float>(100 * t * t * t));
  }
  return result;
}

template <class Check>
void for_each_isa(Check check) {
  for (const Isa isa : available_isas()) {
    SCOPED_TRACE(std::string(to_string(isa)));
    check(kernel_table(isa).activations);
  }
}

double error_of(float actual, double exact) {
  return std::abs(actual - exact) / std::max(1.0, std::abs(exact));
}

TEST(ActivationKernels, AreExactToSomeUnitsInTheLastPlace) {
  const std::vector<float> x = points();
  std::vector<float> y(x.size());
  for_each_isa([&](const ActivationKernels& kernels) {
    for (const Row& row : rows) {
      (kernels.*row.kernel)(std::ssize(x), x.data(), y.data());
      for (std::size_t i = 0; i < x.size(); ++i)
        ASSERT_LE(error_of(y[i], row.exact(x[i])), row.error) << row.name << " of " << x[i];
    }
  });
}

TEST(ActivationKernels, HaveGradientsExactToSomeUnitsInTheLastPlace) {
  const std::vector<float> x = points(), dy(x.size(), 1);
  std::vector<float> dx(x.size());
  for_each_isa([&](const ActivationKernels& kernels) {
    for (const GradientRow& row : gradient_rows) {
      (kernels.*row.kernel)(std::ssize(x), x.data(), dy.data(), dx.data());
      for (std::size_t i = 0; i < x.size(); ++i)
        ASSERT_LE(error_of(dx[i], row.exact(x[i])), row.error) << row.name << " at " << x[i];
    }
  });
}

bool same(float a, float b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

TEST(ActivationKernels, TakeInfinitiesAndNaNs) {
  const float x[] = {-infinity, infinity, nan};
  for_each_isa([&](const ActivationKernels& kernels) {
    for (const Row& row : rows) {
      float y[3];
      (kernels.*row.kernel)(3, x, y);
      EXPECT_TRUE(same(y[0], row.at_infinity[0])) << row.name << " of -inf is " << y[0];
      EXPECT_TRUE(same(y[1], row.at_infinity[1])) << row.name << " of inf is " << y[1];
      EXPECT_TRUE(std::isnan(y[2])) << row.name << " of NaN is " << y[2];
    }
  });
}

TEST(ActivationKernels, GiveAnElementTheSameBitsWhereverItStands) {
  std::vector<float> x = points();
  x.resize(77);
  for_each_isa([&](const ActivationKernels& kernels) {
    for (const Row& row : rows) {
      std::vector<float> whole(x.size()), single(x.size());
      (kernels.*row.kernel)(std::ssize(x), x.data(), whole.data());
      for (std::size_t i = 0; i < x.size(); ++i) (kernels.*row.kernel)(1, &x[i], &single[i]);
      EXPECT_EQ(whole, single) << row.name;
    }
  });
}

/// These are the formulas, with their names.
const std::pair<const char*, FormulaKernels ActivationKernels::*> formulas[] = {
    {"elu", &ActivationKernels::elu},
    {"gelu_tanh", &ActivationKernels::gelu_tanh},
    {"hardshrink", &ActivationKernels::hardshrink},
    {"hardsigmoid", &ActivationKernels::hardsigmoid},
    {"hardswish", &ActivationKernels::hardswish},
    {"hardtanh", &ActivationKernels::hardtanh},
    {"logsigmoid", &ActivationKernels::logsigmoid},
    {"mish", &ActivationKernels::mish},
    {"softplus", &ActivationKernels::softplus},
    {"softshrink", &ActivationKernels::softshrink},
    {"softsign", &ActivationKernels::softsign},
    {"threshold", &ActivationKernels::threshold},
};

TEST(ActivationKernels, HaveFormulasThatGiveAnElementTheSameBitsWhereverItStands) {
  std::vector<float> x = points();
  x.resize(77);
  for_each_isa([&](const ActivationKernels& kernels) {
    for (const auto& [name, formula] : formulas) {
      const FormulaKernels& of = kernels.*formula;
      std::vector<float> whole(x.size()), single(x.size());
      of.function(std::ssize(x), {}, x.data(), whole.data());
      for (std::size_t i = 0; i < x.size(); ++i) of.function(1, {}, &x[i], &single[i]);
      EXPECT_EQ(whole, single) << name;
      of.gradient(std::ssize(x), {}, x.data(), x.data(), whole.data());
      for (std::size_t i = 0; i < x.size(); ++i) of.gradient(1, {}, &x[i], &x[i], &single[i]);
      EXPECT_EQ(whole, single) << name << ", gradient";
    }
  });
}

TEST(ActivationKernels, SumTheGradientOfASlopeOverWhatIsNotAboveZero) {
  std::vector<float> x, dy;
  double sum = 0;
  for (int i = 0; i < 2500; ++i) {
    x.push_back(static_cast<float>(i % 7 - 3)), dy.push_back(static_cast<float>(i % 5));
    if (x.back() < 0) sum += double{x.back()} * dy.back();
  }
  for_each_isa([&](const ActivationKernels& kernels) {
    EXPECT_EQ(kernels.slope_gradient(std::ssize(x), x.data(), dy.data()), sum);
  });
}

}  // namespace
}  // namespace penstock::graph
