// LentTensors lends tensors of the host's to the engine's threads. Whichever thread drops a lent
// tensor last, the host's own handle, and with it perhaps a deleter of the host's, is released only
// by release_returned(), on the thread that calls this function.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "actors/system/owning_process.hpp"
#include "penstock/tensor.hpp"

namespace penstock {

class LentTensors {
 public:
  LentTensors() = default;
  /// Releases the host's handles. Every thread that was lent a tensor must have dropped it by then.
  ~LentTensors() { release_returned(); }
  LentTensors(const LentTensors&) = delete;
  LentTensors& operator=(const LentTensors&) = delete;

  /// Returns tensors with the elements of `tensors`, to be given to other threads.
  std::vector<Tensor> lend(std::span<const Tensor> tensors);
  /// Releases the host's handles of the tensors that no thread of the engine uses any more. Any
  /// thread may call the function. In a process that was forked from the one that made this object,
  /// perhaps by a deleter of the host's, nothing is ever released.
  void release_returned() noexcept;

 private:
  struct Loan;
  /// Returned is the list of the loans that have come back. The loans are linked with each other,
  /// so that a loan needs no memory to come back.
  struct Returned {
    std::mutex mutex;
    std::unique_ptr<Loan> first;
  };
  struct Loan {
    Tensor tensor;
    std::unique_ptr<Loan> next;
  };
  const actors::OwningProcess process_;
  std::shared_ptr<Returned> returned_ = std::make_shared<Returned>();
};

}  // namespace penstock
