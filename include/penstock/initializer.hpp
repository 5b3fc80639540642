// An Initializer says which values a parameter has at first. It is a value. Its kinds and their
// formulas are those of torch.nn.init. The numbers are Penstock's own: they depend on the model's
// seed and on the name of the parameter, and on nothing else.
#pragma once

#include <cstdint>
#include <string_view>

#include "penstock/standard.hpp"

namespace penstock {

/// A Fan says which of the two fans of a weight the Kaiming initializers use. The fan in of a
/// weight [O,I,...] is I, and the fan out is O, each times the product of the axes behind these
/// two.
enum class Fan : std::uint8_t { in, out };

/// An Initializer is a distribution, or one number for all elements. The functions of this struct
/// make one of each kind. A parameter that takes an initializer checks it, and throws Error
/// invalid_argument if a number is not finite or out of range.
struct Initializer {
  /// A Kind is the kind of the distribution. The function with the same name describes it.
  enum class Kind : std::uint8_t {
    constant,
    uniform,
    normal,
    truncated_normal,
    xavier_uniform,
    xavier_normal,
    kaiming_uniform,
    kaiming_normal,
    orthogonal,
  };

  Kind kind = Kind::constant;  ///< `kind` says which distribution it is.
  /// `center` is the constant, or the mean of `normal` and `truncated_normal`. Other kinds have 0
  /// here.
  double center = 0;
  /// `spread` is the standard deviation of `normal` and `truncated_normal`. The kinds `constant`
  /// and `uniform` have 0 here. In each of the other kinds, `spread` is the gain, which is a factor
  /// of the result.
  double spread = 0;
  double low = 0;     ///< `low` is the lower bound of `uniform` and `truncated_normal`.
  double high = 0;    ///< `high` is the upper bound of `uniform` and `truncated_normal`.
  Fan fan = Fan::in;  ///< `fan` is the fan that the Kaiming initializers use.
  /// `zero_row` is the row of the parameter that is 0 all the same, or -1 if there is none. The
  /// first axis of the parameter counts the rows.
  std::int64_t zero_row = -1;

  /// Returns the initializer that makes every element `value`.
  static Initializer constant(double value);
  /// Returns the initializer that draws from [low, high) evenly.
  static Initializer uniform(double low = 0, double high = 1);
  /// Returns the initializer that draws from the normal distribution with this mean and standard
  /// deviation.
  static Initializer normal(double mean = 0, double std = 1);
  /// Returns the initializer that draws from the normal distribution with this mean and standard
  /// deviation again and again until a number is from `low` to `high`. At least a thousandth of the
  /// distribution must be there.
  static Initializer truncated_normal(double mean = 0, double std = 1, double low = -2,
                                      double high = 2);
  /// Returns the initializer that draws from ±gain·sqrt(6/(fan in + fan out)) evenly (Glorot and
  /// Bengio, 2010).
  static Initializer xavier_uniform(double gain = 1);
  /// Returns the initializer that draws from the normal distribution with the standard deviation
  /// gain·sqrt(2/(fan in + fan out)).
  static Initializer xavier_normal(double gain = 1);
  /// Returns the initializer that draws from ±sqrt(6/((1 + s²)·fan)) evenly, where s is the
  /// negative slope of the leaky ReLU behind the layer, which is 0 for ReLU (He et al., 2015).
  static Initializer kaiming_uniform(double negative_slope = 0, Fan fan = Fan::in);
  /// Returns the initializer that draws from the normal distribution with the standard deviation
  /// sqrt(2/((1 + s²)·fan)), where s is the negative slope.
  static Initializer kaiming_normal(double negative_slope = 0, Fan fan = Fan::in);
  /// Returns the initializer that makes gain times a random matrix with orthonormal rows or, if a
  /// weight has more rows than columns, orthonormal columns (Saxe et al., 2013). Axis 0 of the
  /// weight counts the rows, and all other axes together are the columns. The time that this takes
  /// grows with the cube of the size: a weight [1000,1000] takes about a second.
  static Initializer orthogonal(double gain = 1);

  /// Returns whether both are the same distribution.
  bool operator==(const Initializer&) const = default;
};

/// Returns the name of the enumerator.
std::string_view to_string(Initializer::Kind value) noexcept;

}  // namespace penstock
