#include "graph/kernels/losses/row_losses.hpp"

#include "graph/kernels/vectors/each_element.hpp"
#include "graph/kernels/vectors/sums.hpp"

namespace penstock::graph::PENSTOCK_ISA {
namespace {

[[gnu::always_inline]] inline float of_row(RowOperand operand, std::int64_t row) {
  return operand.data[operand.repeats ? 0 : row];
}

double root(double x) {
  return __builtin_sqrt(x);
}

/// Returns `lack` if it is above 0 or NaN, and otherwise 0.
double above_zero(double lack) {
  return lack <= 0 ? 0 : lack;
}

struct Cosine {
  double value, root_of_product, square_a, square_b;
};

Cosine cosine_of(std::int64_t width, const float* a, const float* b) {
  constexpr double eps = 1e-12;
  const auto product = [](auto x, auto y) { return x * y; };
  const double square_a = long_sum_of(width, product, a, a) + eps;
  const double square_b = long_sum_of(width, product, b, b) + eps;
  const double both = root(square_a * square_b);
  return {long_sum_of(width, product, a, b) / both, both, square_a, square_b};
}

/// Computes the loss of each row. A row whose target is neither 1 nor -1 has the loss 0, as in
/// PyTorch.
void cosine(const CosineRows& of, float* y) {
  for (std::int64_t row = 0; row < of.rows; ++row) {
    const double value = cosine_of(of.width, of.a + row * of.width, of.b + row * of.width).value;
    const double far = above_zero(value - static_cast<double>(of.margin));
    const float target = of.target[row];
    y[row] = static_cast<float>(target == 1.0f ? 1 - value : target == -1.0f ? far : 0);
  }
}

// The derivative of the cosine in `a` is b/√(a·a b·b) - cos·a/(a·a), and that in `b` is the same
// with `a` and `b` exchanged.
void cosine_gradient(const CosineRows& of, RowOperand dloss, float* da, float* db) {
  for (std::int64_t row = 0; row < of.rows; ++row) {
    const std::int64_t at = row * of.width;
    const float *a = of.a + at, *b = of.b + at;
    const Cosine cosine = cosine_of(of.width, a, b);
    const bool near = of.target[row] == 1.0f;
    const bool far = of.target[row] == -1.0f && cosine.value >= static_cast<double>(of.margin);
    const double slope = (near ? -1 : far ? 1 : 0) * static_cast<double>(of_row(dloss, row));
    const auto other = static_cast<float>(slope / cosine.root_of_product);
    const auto own_a = static_cast<float>(slope * cosine.value / cosine.square_a);
    const auto own_b = static_cast<float>(slope * cosine.value / cosine.square_b);
    for_each_element(of.width, [=](std::int64_t i) {
      da[at + i] = other * b[i] - own_a * a[i];
      db[at + i] = other * a[i] - own_b * b[i];
    });
  }
}

/// Returns the distance |a - b + eps| of two rows, in the norm that `of` asks for.
double distance(const TripletRows& of, const float* a, const float* b) {
  const float eps = of.eps;
  if (of.manhattan)
    return long_sum_of(
        of.width,
        [=](auto x, auto y) {
          const auto d = x - y + eps;
          return d > 0.0f ? d : 0.0f - d;
        },
        a, b);
  return root(long_sum_of(
      of.width, [=](auto x, auto y) { return (x - y + eps) * (x - y + eps); }, a, b));
}

struct Triplet {
  /// This is margin + near - far, which is the loss if it is above zero.
  double lack;
  double near, far;  ///< These are the distances of the rows `near` and `far` of TripletRows.
  /// This is 1 if `far` is the distance from the row `near`, 0 if it is the distance from the row
  /// `anchor`, and 0.5 if both distances are equal.
  double far_from_near;
};

Triplet triplet_of(const TripletRows& of, std::int64_t row) {
  const std::int64_t at = row * of.width;
  Triplet result{0, distance(of, of.anchor + at, of.near + at),
                 distance(of, of.anchor + at, of.far + at), 0};
  if (of.swap) {
    const double other = distance(of, of.near + at, of.far + at);
    result.far_from_near = other < result.far ? 1 : other > result.far ? 0 : 0.5;
    if (!(other >= result.far) && result.far == result.far) result.far = other;
  }
  result.lack = static_cast<double>(of.margin) + result.near - result.far;
  return result;
}

void triplet(const TripletRows& of, float* y) {
  for (std::int64_t row = 0; row < of.rows; ++row) {
    y[row] = static_cast<float>(above_zero(triplet_of(of, row).lack));
  }
}

/// Adds to `da` and `db` the derivatives of |a - b + eps| in `a` and in `b`, times `slope`.
/// `length` is |a - b + eps|.
void add_distance_gradient(const TripletRows& of, double length, double slope, const float* a,
                           const float* b, float* da, float* db) {
  const float eps = of.eps;
  if (of.manhattan) {
    for_each_element(of.width, [=, by = static_cast<float>(slope)](std::int64_t i) {
      const float d = a[i] - b[i] + eps;
      const float change = d > 0.0f ? by : d < 0.0f ? -by : 0.0f;
      da[i] += change;
      db[i] -= change;
    });
    return;
  }
  const auto by = static_cast<float>(length == 0 ? 0 : slope / length);
  for_each_element(of.width, [=](std::int64_t i) {
    const float change = (a[i] - b[i] + eps) * by;
    da[i] += change;
    db[i] -= change;
  });
}

void triplet_gradient(const TripletRows& of, RowOperand dloss, const TripletGradients& to) {
  for (std::int64_t row = 0; row < of.rows; ++row) {
    const std::int64_t at = row * of.width;
    const Triplet triplet = triplet_of(of, row);
    float *anchor = to.anchor + at, *near = to.near + at, *far = to.far + at;
    for_each_element(of.width, [=](std::int64_t i) { anchor[i] = near[i] = far[i] = 0; });
    if (triplet.lack < 0) continue;
    // If `lack` is NaN, the slope is 0. The product of 0 and a distance that is NaN still makes its
    // gradient NaN.
    const double slope = triplet.lack >= 0 ? static_cast<double>(of_row(dloss, row)) : 0;
    add_distance_gradient(of, triplet.near, slope, of.anchor + at, of.near + at, anchor, near);
    const double swapped = slope * triplet.far_from_near;
    if (triplet.far_from_near < 1)
      add_distance_gradient(of, triplet.far, swapped - slope, of.anchor + at, of.far + at, anchor,
                            far);
    if (triplet.far_from_near > 0)
      add_distance_gradient(of, triplet.far, -swapped, of.near + at, of.far + at, near, far);
  }
}

}  // namespace

extern const RowLossKernels row_loss_kernels;
const RowLossKernels row_loss_kernels{.cosine = cosine,
                                      .cosine_gradient = cosine_gradient,
                                      .triplet = triplet,
                                      .triplet_gradient = triplet_gradient};

}  // namespace penstock::graph::PENSTOCK_ISA
