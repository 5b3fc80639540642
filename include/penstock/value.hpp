// A Value stands for a tensor that a model will compute. Arithmetic on values adds layers to the
// model: `x * y + 1` is an op that multiplies and an op that adds.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "penstock/standard.hpp"

namespace penstock {

/// A ModelState is what the copies of a Model share: the network and its weights.
struct ModelState;

/// A Value is a tensor that a model will compute. It belongs to the model that returned it. If the
/// layer that computes the value is taken back, as Sequential::add() may do, the value does not
/// belong to the model any more. A Value does not keep its model alive.
class Value {
 public:
  Value() = default;
  /// Returns whether this is a value of a model, which one that was made by the default constructor
  /// is not.
  explicit operator bool() const noexcept { return model_ != 0; }

 private:
  friend struct ModelState;
  Value(std::weak_ptr<ModelState> state, std::uint64_t model, std::uint64_t serial, std::int32_t id)
      : state_(std::move(state)), model_(model), serial_(serial), id_(id) {}
  std::weak_ptr<ModelState> state_;  // Operators add their layers here.
  std::uint64_t model_ = 0;          // A value of no model has 0 here.
  std::uint64_t serial_ = 0;         // No other value of the model has or ever had this number.
  std::int32_t id_ = -1;
};

// These operators are Model::add(), sub(), mul() and div() of two values, broadcast as in NumPy,
// and the same with a number in place of a value. They throw Error invalid_model if a value belongs
// to no model, or if its model is gone, and what these functions throw.

Value operator+(const Value& a, const Value& b);  ///< Returns a + b.
Value operator-(const Value& a, const Value& b);  ///< Returns a - b.
Value operator*(const Value& a, const Value& b);  ///< Returns a·b.
Value operator/(const Value& a, const Value& b);  ///< Returns a/b.
Value operator+(const Value& a, double b);        ///< Returns a + b.
Value operator-(const Value& a, double b);        ///< Returns a - b.
Value operator*(const Value& a, double b);        ///< Returns b·a.
Value operator/(const Value& a, double b);        ///< Returns a/b.
Value operator+(double a, const Value& b);        ///< Returns a + b.
Value operator-(double a, const Value& b);        ///< Returns a - b.
Value operator*(double a, const Value& b);        ///< Returns a·b.
Value operator/(double a, const Value& b);        ///< Returns a/b.
Value operator-(const Value& x);                  ///< Returns -x.

}  // namespace penstock
