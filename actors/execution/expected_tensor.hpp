// expect_tensor() checks a tensor that a message has brought. Another process may send any tensor,
// and programs read and copy as many bytes as the plan says.
#pragma once

#include <string>

#include "graph/plan/plan.hpp"
#include "penstock/error.hpp"
#include "penstock/tensor.hpp"

namespace penstock::actors {

/// Checks that `tensor` has the type `type`. `what()` returns a text that says which tensor of
/// which message it is.
/// @throws Error internal if the tensor has another type, or is empty.
void expect_tensor(const Tensor& tensor, const graph::TensorType& type, const auto& what) {
  if (tensor && tensor.dtype() == type.dtype && tensor.shape() == type.shape) return;
  const std::string found =
      tensor ? to_string(graph::TensorType{tensor.dtype(), tensor.shape()}) : "no tensor";
  throw Error(Errc::internal,
              "the message " + what() + ": expected " + to_string(type) + ", got " + found);
}

}  // namespace penstock::actors
