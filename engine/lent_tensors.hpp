// LentTensors are tensors of the host's while the engine's threads use them. The host's own handle,
// and with it perhaps a deleter of the host's, is released on a thread of the host's, when that
// thread asks for it, whichever thread has dropped the lent tensor last.
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
  /// Ends when every thread that was lent a tensor has dropped it.
  ~LentTensors() { release_returned(); }
  LentTensors(const LentTensors&) = delete;
  LentTensors& operator=(const LentTensors&) = delete;

  /// Returns tensors of the same elements, to be given to other threads.
  std::vector<Tensor> lend(std::span<const Tensor> tensors);
  /// Releases the host's handles of the tensors that no thread of the engine uses any more. Any
  /// thread may call it. In a process that was forked from the one that made this, perhaps by a
  /// deleter of the host's, nothing is released, for good.
  void release_returned() noexcept;

 private:
  struct Loan;
  /// Lists the loans that have come back. A loan takes no memory to come back.
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
