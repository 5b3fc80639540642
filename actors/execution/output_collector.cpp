#include "actors/execution/output_collector.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>

#include "penstock/error.hpp"

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
  missing_ = outputs_of(micro_batches);
  counts_.assign(results_.size() * static_cast<std::size_t>(setup_->replicas), 0);
  if (setup_->plan->loss)
    losses_.resize(static_cast<std::size_t>(micro_batches * setup_->replicas));
  for (Result& result : results_) result.memory = result.before_window = nullptr;
  pool_.begin_round();
  for (std::size_t i = 0; i < results_.size(); ++i) {
    auto& [selection, type, memory, before_window] = results_[i];
    type = returned_type(setup_->plan->outputs[i].type, selection, micro_batches, setup_->replicas);
    const auto bytes = static_cast<std::size_t>(type.bytes());
    memory = pool_.take(bytes);
    if (selection.mode != OutputMode::sum) continue;
    std::memset(memory.get(), 0, bytes);
    if (setup_->plan->training) before_window = pool_.take(bytes);
  }
}

void OutputCollector::add(std::size_t output, std::int64_t replica, std::int64_t number,
                          const Tensor& tensor) {
  if (number != next(output, replica))
    throw Error(Errc::internal, "output " + std::to_string(output) + " of replica " +
                                    std::to_string(replica) + ": expected micro-batch " +
                                    std::to_string(next(output, replica)) +
                                    " of the call, got micro-batch " + std::to_string(number));
  --missing_;
  ++count_of(output, replica);
  if (setup_->plan->loss == static_cast<std::int32_t>(output))
    losses_[static_cast<std::size_t>(number * setup_->replicas + replica)] = loss_of(tensor);
  const auto& [selection, type, memory, before_window] = results_[output];
  // A tensor without elements may have no memory, from which nothing may be copied.
  if (!takes(output, number) || tensor.bytes() == 0) return;
  const std::int64_t offset =
      position(selection, replica, number) * static_cast<std::int64_t>(tensor.bytes());
  std::byte* const place = memory.get() + offset;
  if (before_window && number % setup_->gradient_accumulation == 0)
    std::memcpy(before_window.get() + offset, place, tensor.bytes());
  if (selection.mode != OutputMode::sum)
    std::memcpy(place, tensor.raw(), tensor.bytes());
  else if (tensor.dtype() == DType::f32)
    add_elements<float>(place, tensor);
  else  // A plan sums up no other type than these two.
    add_elements<std::int64_t>(place, tensor);
}

void OutputCollector::leave_out(std::int64_t micro_batches) {
  missing_ -= outputs_of(micro_batches);
}

bool OutputCollector::has_all_of(std::int64_t micro_batches) const {
  return std::ranges::all_of(counts_, [&](std::int64_t count) { return count >= micro_batches; });
}

void OutputCollector::go_on_with(OutputCollector&& failed, std::int64_t micro_batches) {
  micro_batches_ = failed.micro_batches_;
  missing_ = outputs_of(micro_batches_ - micro_batches);
  counts_ = std::move(failed.counts_);
  losses_ = std::move(failed.losses_);
  results_ = std::move(failed.results_);
  for (std::size_t i = 0; i < results_.size(); ++i)
    for (std::int64_t replica = 0; replica < setup_->replicas; ++replica)
      if (std::exchange(count_of(i, replica), micro_batches) > micro_batches)
        forget_window(results_[i], replica);
}

void OutputCollector::forget_window(const Result& result, std::int64_t replica) const {
  if (!result.before_window) return;
  const std::int64_t bytes = result.type.bytes() / setup_->replicas;
  std::memcpy(result.memory.get() + replica * bytes, result.before_window.get() + replica * bytes,
              static_cast<std::size_t>(bytes));
}

// The losses are added in the order of the data, in whatever order the micro-batches came, because
// additions of doubles are rounded, too.
double OutputCollector::mean_loss() const {
  if (losses_.empty()) return std::numeric_limits<double>::quiet_NaN();
  return std::accumulate(losses_.begin(), losses_.end(), 0.0) / static_cast<double>(losses_.size());
}

StepOutcome OutputCollector::outcome() const {
  StepOutcome outcome{.mean_loss = mean_loss()};
  for (const Result& result : results_)
    outcome.outputs.push_back(Tensor::wrap(result.type.dtype, result.type.shape, result.memory));
  return outcome;
}

}  // namespace penstock::actors
