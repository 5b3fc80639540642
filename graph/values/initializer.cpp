#include "penstock/initializer.hpp"

#include <cmath>

namespace penstock {
namespace {

double kaiming_gain(double negative_slope) {
  return std::sqrt(2 / (1 + negative_slope * negative_slope));
}

}  // namespace

Initializer Initializer::constant(double value) {
  return {.kind = Kind::constant, .center = value};
}

Initializer Initializer::uniform(double low, double high) {
  return {.kind = Kind::uniform, .low = low, .high = high};
}

Initializer Initializer::normal(double mean, double std) {
  return {.kind = Kind::normal, .center = mean, .spread = std};
}

Initializer Initializer::truncated_normal(double mean, double std, double low, double high) {
  return {.kind = Kind::truncated_normal, .center = mean, .spread = std, .low = low, .high = high};
}

Initializer Initializer::xavier_uniform(double gain) {
  return {.kind = Kind::xavier_uniform, .spread = gain};
}

Initializer Initializer::xavier_normal(double gain) {
  return {.kind = Kind::xavier_normal, .spread = gain};
}

Initializer Initializer::kaiming_uniform(double negative_slope, Fan fan) {
  return {.kind = Kind::kaiming_uniform, .spread = kaiming_gain(negative_slope), .fan = fan};
}

Initializer Initializer::kaiming_normal(double negative_slope, Fan fan) {
  return {.kind = Kind::kaiming_normal, .spread = kaiming_gain(negative_slope), .fan = fan};
}

Initializer Initializer::orthogonal(double gain) {
  return {.kind = Kind::orthogonal, .spread = gain};
}

std::string_view to_string(Initializer::Kind value) noexcept {
  switch (value) {
    case Initializer::Kind::constant:
      return "constant";
    case Initializer::Kind::uniform:
      return "uniform";
    case Initializer::Kind::normal:
      return "normal";
    case Initializer::Kind::truncated_normal:
      return "truncated_normal";
    case Initializer::Kind::xavier_uniform:
      return "xavier_uniform";
    case Initializer::Kind::xavier_normal:
      return "xavier_normal";
    case Initializer::Kind::kaiming_uniform:
      return "kaiming_uniform";
    case Initializer::Kind::kaiming_normal:
      return "kaiming_normal";
    case Initializer::Kind::orthogonal:
      return "orthogonal";
  }
  return "?";
}

}  // namespace penstock
