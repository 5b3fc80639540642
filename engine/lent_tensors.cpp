#include "engine/lent_tensors.hpp"

#include <utility>

#include "graph/values/canonical_floats.hpp"

namespace penstock {

std::vector<Tensor> LentTensors::lend(std::span<const Tensor> tensors) {
  std::vector<Tensor> lent;
  lent.reserve(tensors.size());
  for (const Tensor& tensor : tensors) {
    const std::shared_ptr<Loan> loan(new Loan{tensor, nullptr},
                                     [returned = returned_](Loan* ended) {
                                       const std::lock_guard lock(returned->mutex);
                                       ended->next = std::move(returned->first);
                                       returned->first.reset(ended);
                                     });
    lent.push_back(Tensor::wrap(tensor.dtype(), tensor.shape(),
                                std::shared_ptr<const std::byte>(loan, tensor.raw())));
  }
  return lent;
}

void LentTensors::release_returned() noexcept {
  if (!process_.is_current()) return;
  const KeptFloats floats;  // A deleter of the host's may change the floating-point environment.
  std::unique_ptr<Loan> loan;
  {
    const std::lock_guard lock(returned_->mutex);
    loan = std::move(returned_->first);
  }
  // The loans end one by one, because the destructor of a long list may need more stack than there
  // is, and because a deleter may fork the process.
  while (loan && process_.is_current()) loan = std::move(loan->next);
  static_cast<void>(loan.release());  // In a forked process, the other loans are the parent's.
}

}  // namespace penstock
