// A TensorList is an immutable list of tensors. Copying it copies a handle, never the list.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "penstock/tensor.hpp"

namespace penstock::actors {

class TensorList {
 public:
  /// Makes an empty list, which takes no memory.
  TensorList() = default;
  explicit TensorList(std::vector<Tensor> tensors)
      : tensors_(std::make_shared<const std::vector<Tensor>>(std::move(tensors))) {}

  std::size_t size() const noexcept { return tensors_ ? tensors_->size() : 0; }
  /// Returns tensor number `position`, which must be below size().
  const Tensor& operator[](std::size_t position) const noexcept { return (*tensors_)[position]; }

 private:
  std::shared_ptr<const std::vector<Tensor>> tensors_;
};

}  // namespace penstock::actors
