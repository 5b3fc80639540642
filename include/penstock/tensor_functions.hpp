// These are the functions of tensors that a Model computes: arithmetic, elementary functions and
// reductions. docs/layers.md lists them beside PyTorch's.
#pragma once

#include <vector>

#include "penstock/tensor_shapes.hpp"

namespace penstock {

/// TensorFunctions are the methods of Model that compute tensors from tensors, without parameters.
class TensorFunctions : public TensorShapes {
 public:
  /// Returns a + b, broadcast as in NumPy. No function that broadcasts may put axis 0 of a value,
  /// which counts samples, behind other axes, as x [N,1] and y [N] would: training and inference
  /// models refuse that.
  Value add(Value a, Value b);
  /// Returns a - b, broadcast as by add().
  Value sub(Value a, Value b);
  /// Returns a·b element by element, broadcast as by add().
  Value mul(Value a, Value b);
  /// Returns `factor`·x. The factor is finite as f32.
  Value scale(Value x, double factor);
  /// Returns a/b. Shapes broadcast as in NumPy.
  Value div(Value a, Value b);
  /// Returns the smaller of a and b, element by element; a NaN stays one. Shapes broadcast as in
  /// NumPy. If both are equal, each gets half of the gradient.
  Value minimum(Value a, Value b);
  /// Returns the larger of a and b, and does in all else what minimum() does.
  Value maximum(Value a, Value b);
  /// Returns 1 where a and b are equal, and 0 elsewhere, as f32. Shapes broadcast as in NumPy. The
  /// result of a comparison is a constant for training, so that no gradient goes back from it. Each
  /// comparison also takes a number in the place of b.
  Value equal(Value a, Value b);
  Value equal(Value a, double b);  ///< Compares a with a number.
  /// Returns 1 where a and b differ, or where one of them is NaN, and 0 elsewhere; see equal().
  Value not_equal(Value a, Value b);
  Value not_equal(Value a, double b);  ///< Compares a with a number.
  /// Returns 1 where a is less than b, and 0 elsewhere; see equal().
  Value less(Value a, Value b);
  Value less(Value a, double b);  ///< Compares a with a number.
  /// Returns 1 where a is less than b or equal to it, and 0 elsewhere; see equal().
  Value less_equal(Value a, Value b);
  Value less_equal(Value a, double b);  ///< Compares a with a number.
  /// Returns 1 where a is greater than b, and 0 elsewhere; see equal().
  Value greater(Value a, Value b);
  Value greater(Value a, double b);  ///< Compares a with a number.
  /// Returns 1 where a is greater than b or equal to it, and 0 elsewhere; see equal().
  Value greater_equal(Value a, Value b);
  Value greater_equal(Value a, double b);  ///< Compares a with a number.
  /// Returns a where `condition`, f32, is not 0, and b elsewhere. Shapes broadcast as in NumPy. No
  /// gradient goes back to the condition: a training is refused if the condition depends on a
  /// parameter that it trains. Comparisons and stop_gradient() make constants.
  Value where(Value condition, Value a, Value b);

  /// Returns -x.
  Value neg(Value x);
  /// Returns |x|. The gradient at 0 is 0.
  Value abs(Value x);
  /// Returns exp(x).
  Value exp(Value x);
  /// Returns the natural logarithm of x, which is NaN below 0.
  Value log(Value x);
  /// Returns the square root of x, which is NaN below 0.
  Value sqrt(Value x);
  /// Returns 1/sqrt(x).
  Value rsqrt(Value x);
  /// Returns 1/x.
  Value reciprocal(Value x);
  /// Returns x².
  Value square(Value x);
  /// Returns x to the power `exponent`. A negative x has one only if the exponent is an integer.
  Value pow(Value x, double exponent);
  /// Returns x to the power `exponent`, element by element. Shapes broadcast as in NumPy. As in
  /// PyTorch, the gradient of x is 0 where the exponent is 0, and that of the exponent is 0 where x
  /// is 0 and the exponent is not negative.
  Value pow(Value x, Value exponent);
  /// Returns sin(x).
  Value sin(Value x);
  /// Returns cos(x).
  Value cos(Value x);
  /// Returns the error function of x.
  Value erf(Value x);
  /// Returns x where it is from `low` to `high`, else the bound that is nearer.
  Value clamp(Value x, double low, double high);
  /// Returns the largest integer that is not above x. The results of this function and of ceil(),
  /// round() and sign() are constants for training: no gradient goes back to x.
  Value floor(Value x);
  /// Returns the smallest integer that is not below x.
  Value ceil(Value x);
  /// Returns the integer that is nearest to x, and of two such integers the even one.
  Value round(Value x);
  /// Returns 1 above 0, -1 below 0, and 0 elsewhere.
  Value sign(Value x);
  /// Returns the sum of x over `axes`, where axis 0 counts the samples, and a negative axis counts
  /// from the end. The result lacks these axes; if `keep` is true, they have the size 1 instead.
  Value sum(Value x, const std::vector<int>& axes, bool keep = false);
  /// Returns the mean of x over `axes`; see sum().
  Value mean(Value x, const std::vector<int>& axes, bool keep = false);
  /// Returns the largest element of x along `axes`; see sum(). Equal elements share the gradient
  /// evenly.
  Value amax(Value x, const std::vector<int>& axes, bool keep = false);
  /// Returns the smallest element of x along `axes`, and does in all else what amax() does.
  Value amin(Value x, const std::vector<int>& axes, bool keep = false);
  /// Returns the variance of x over `axes`, which do not include axis 0; see sum(). It is divided
  /// by the number of elements less one or, if `unbiased` is false, by their number.
  Value var(Value x, const std::vector<int>& axes, bool unbiased = true, bool keep = false);
  /// Returns the product of the elements of x along `axes`; see sum(). The gradient of an element
  /// is the product of the others.
  Value prod(Value x, const std::vector<int>& axes, bool keep = false);
  /// Returns the logarithm of the sum of exp(x) over `axes`, without overflow; see sum().
  Value logsumexp(Value x, const std::vector<int>& axes, bool keep = false);
  /// Returns (Σ|x|^p)^(1/p) over `axes` (torch.linalg.vector_norm), for a `p` above 0; see sum().
  /// An infinite `p` stands for the largest |x|. The gradient is 0 where the norm is 0.
  Value norm(Value x, const std::vector<int>& axes, double p = 2, bool keep = false);
  /// Returns the sums of x along `axis`, each of the elements up to and with its own. The axis is
  /// not axis 0.
  Value cumsum(Value x, int axis);
  /// Returns the matrix product [...,M,K]·[...,K,N] -> [...,M,N]. The axes before the matrices
  /// broadcast as by add(). If `transpose_a` is true, a is [...,K,M]; if `transpose_b` is true, b
  /// is [...,N,K].
  Value matmul(Value a, Value b, bool transpose_a = false, bool transpose_b = false);
  /// Returns x as a constant for training: no gradient goes back to what x is computed from.
  Value stop_gradient(Value x);

  /// Returns x·`scale` + `shift` as f32 for x of type u8, i32, i64 or bool, where true counts as 1.
  /// The product is rounded before the sum. Images thus stay bytes until they are in their first
  /// stage. An integer has no gradient.
  Value to_float(Value x, double scale = 1, double shift = 0);
  /// Returns x·scale + shift as the other to_float() does, with a scale and a shift for each
  /// channel of x [N,C,...]. Both are f32 [C], such as those of Layers::constant(), and not
  /// trained.
  Value to_float(Value x, Value scale, Value shift);
  /// Returns x as i64 for x of type u8, i32 or bool. Layers that take ids, labels, lengths or
  /// indices do so by themselves for u8 and i32.
  Value to_i64(Value x);

 protected:
  TensorFunctions() = default;
};

}  // namespace penstock
