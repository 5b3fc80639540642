#include "actors/execution/output_collector.hpp"

#include <cstring>
#include <limits>
#include <numeric>

namespace penstock::actors {
namespace {

template <class T>
void add_elements(std::byte* sum, const Tensor& tensor) {
  auto* out = reinterpret_cast<T*>(sum);
  for (const T value : tensor.as<T>()) *out++ += value;
}

/// Returns the loss of a micro-batch: the only element of `loss`, or the mean of all elements if
/// the loss was not reduced to a single number.
double loss_of(const Tensor& loss) {
  const auto terms = loss.as<float>();
  return std::accumulate(terms.begin(), terms.end(), 0.0) / static_cast<double>(terms.size());
}

}  // namespace

std::int64_t count_returned(const OutputSelection& selection, std::int64_t micro_batches) {
  switch (selection.mode) {
    case OutputMode::final:
    case OutputMode::sum:
      return 1;
    case OutputMode::every_n:
      return micro_batches / selection.period;
    default:
      return micro_batches;
  }
}

bool is_returned(const OutputSelection& selection, std::int64_t number,
                 std::int64_t micro_batches) {
  switch (selection.mode) {
    case OutputMode::final:
    case OutputMode::sum:
      return number == micro_batches - 1;
    case OutputMode::every_n:
      return (number + 1) % selection.period == 0;
    default:
      return true;
  }
}

graph::TensorType returned_type(const graph::TensorType& one, const OutputSelection& selection,
                                std::int64_t micro_batches, std::int64_t replicas) {
  const std::int64_t count = count_returned(selection, micro_batches) * replicas;
  if (one.shape.rank() > 0) return {one.dtype, one.shape.with(0, one.shape[0] * count)};
  return {one.dtype, count == 1 ? Shape{} : Shape{count}};
}

OutputCollector::OutputCollector(std::shared_ptr<const PipelineSetup> setup)
    : setup_(std::move(setup)),
      results_(setup_->plan->outputs.size(), Result{.selection = setup_->outputs}) {
  for (std::size_t i = 0; i < setup_->anchors.size(); ++i)
    results_[static_cast<std::size_t>(setup_->plan->anchors[i])].selection = setup_->anchors[i];
}

bool OutputCollector::takes(std::size_t output, std::int64_t number) const {
  const OutputSelection& selection = results_[output].selection;
  return selection.mode == OutputMode::sum || is_returned(selection, number, micro_batches_);
}

std::int64_t OutputCollector::position(const OutputSelection& selection, std::int64_t replica,
                                       std::int64_t number) const {
  switch (selection.mode) {
    case OutputMode::final:
    case OutputMode::sum:
      return replica;
    case OutputMode::every_n:
      return number / selection.period * setup_->replicas + replica;
    default:
      return number * setup_->replicas + replica;
  }
}

void OutputCollector::begin(std::int64_t micro_batches) {
  micro_batches_ = micro_batches;
  missing_ = micro_batches * setup_->replicas * static_cast<std::int64_t>(results_.size());
  if (setup_->plan->loss)
    losses_.resize(static_cast<std::size_t>(micro_batches * setup_->replicas));
  pool_.begin_round();
  for (std::size_t i = 0; i < results_.size(); ++i) {
    auto& [selection, type, memory] = results_[i];
    type = returned_type(setup_->plan->outputs[i].type, selection, micro_batches, setup_->replicas);
    const auto bytes = static_cast<std::size_t>(type.bytes());
    memory = pool_.take(bytes);
    if (selection.mode == OutputMode::sum) std::memset(memory.get(), 0, bytes);
  }
}

void OutputCollector::add(std::size_t output, std::int64_t replica, std::int64_t number,
                          const Tensor& tensor) {
  --missing_;
  if (setup_->plan->loss == static_cast<std::int32_t>(output))
    losses_[static_cast<std::size_t>(number * setup_->replicas + replica)] = loss_of(tensor);
  const auto& [selection, type, memory] = results_[output];
  // A tensor without elements may have no memory, from which nothing may be copied.
  if (!takes(output, number) || tensor.bytes() == 0) return;
  std::byte* place = memory.get() + position(selection, replica, number) *
                                        static_cast<std::int64_t>(tensor.bytes());
  if (selection.mode != OutputMode::sum)
    std::memcpy(place, tensor.raw(), tensor.bytes());
  else if (tensor.dtype() == DType::f32)
    add_elements<float>(place, tensor);
  else  // A plan sums up no other type than these two.
    add_elements<std::int64_t>(place, tensor);
}

void OutputCollector::leave_out(std::int64_t micro_batches) {
  missing_ -= micro_batches * setup_->replicas * static_cast<std::int64_t>(results_.size());
}

// The losses are added in the order of the data, in whatever order the micro-batches came, because
// additions of doubles are rounded, too.
double OutputCollector::mean_loss() const {
  if (losses_.empty()) return std::numeric_limits<double>::quiet_NaN();
  return std::accumulate(losses_.begin(), losses_.end(), 0.0) / static_cast<double>(losses_.size());
}

StepOutcome OutputCollector::take() {
  StepOutcome outcome{.mean_loss = mean_loss()};
  for (auto& [selection, type, memory] : results_)
    outcome.outputs.push_back(Tensor::wrap(type.dtype, type.shape, std::move(memory)));
  return outcome;
}

}  // namespace penstock::actors
