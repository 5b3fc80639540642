#include "actors/update/gradient_sums.hpp"

#include <algorithm>
#include <array>
#include <functional>

#include "graph/kernels/kernel_table.hpp"
#include "graph/plan/shards.hpp"
#include "graph/plan/staging_sizes.hpp"

namespace penstock::actors {
namespace {

void add(std::span<float> to, const float* left, const float* right) {
  graph::kernel_table().arithmetic.add(std::ssize(to), {left, false}, {right, false}, to.data());
}

std::span<float> part_of(std::span<float> sum, const graph::Part& part) {
  return sum.subspan(static_cast<std::size_t>(part.begin), static_cast<std::size_t>(size(part)));
}

}  // namespace

void GradientSums::reduce_scatter(const SharedParameter& parameter, const StagingBuffer& staging,
                                  CollectiveReport& counts) {
  for (std::size_t use = 0; use < parameter.plan->gradients.size(); ++use) {
    const StageSums& sums = of_stage_.at(parameter.plan->gradients[use].stage);
    addends_.clear();
    for (const std::shared_ptr<Arena>& replica : sums.reduced->replicas) {
      addends_.push_back(sum_in(*replica, parameter, use).data() + parameter.share.begin);
      if (replica != sums.arena)
        counts.scattered_bytes += size(parameter.share) * std::int64_t{sizeof(float)};
    }
    ++counts.reduce_scatters;
    add_up(addends_, parameter, use, staging);
  }
}

void GradientSums::add_up_slice(std::int64_t replica, const SharedWork& by,
                                const StagingBuffer& staging) const {
  const StageSums& stage_sums = of_stage_.at(static_cast<std::int32_t>(arena_->number()));
  if (stage_sums.reduced)
    actors::add_up_slice(*stage_sums.reduced, replica, by, staging.heartbeat());
}

void GradientSums::add_uses(const SharedParameter& parameter, const StagingBuffer& staging) {
  const std::size_t uses = parameter.plan->gradients.size();
  if (uses == 1 || graph::empty(parameter.share)) return;
  addends_.clear();
  for (std::size_t use = 0; use < uses; ++use)
    addends_.push_back(sum_of(parameter, use) + parameter.share.begin);
  add_up(addends_, parameter, 0, staging);
}

void GradientSums::add_up(std::span<const float* const> sums, const SharedParameter& parameter,
                          std::size_t use, const StagingBuffer& staging) {
  const std::span<float> result = part_of(own_sum_of(parameter, use), parameter.share);
  if (parameter.sums_on_host())
    add_in_pieces(sums, result, pair_at_once(parameter, staging), staging);
  else
    add_on_ipu(sums, result, staging);
}

// The sums are added piece by piece, because the result may overwrite one of the sums.
void GradientSums::add_on_ipu(std::span<const float* const> sums, std::span<float> result,
                              const StagingBuffer& staging) {
  std::array<float, 1024> sum;
  for (std::int64_t begin = 0; begin < std::ssize(result); begin += std::ssize(sum)) {
    const std::int64_t count = std::min(std::ssize(sum), std::ssize(result) - begin);
    const auto so_far = std::span(sum).first(static_cast<std::size_t>(count));
    const float* left = sums.front() + begin;
    for (const float* one : sums.subspan(1, sums.size() - 2)) {
      add(so_far, left, one + begin);
      left = so_far.data();
    }
    add(part_of(result, {begin, begin + count}), left, sums.back() + begin);
    staging.beat();
  }
}

void GradientSums::add_in_pieces(std::span<const float* const> sums, std::span<float> result,
                                 std::int64_t at_once, const StagingBuffer& staging) {
  OffloadReport& moves = arena_->accumulator_moves();
  for (std::int64_t begin = 0; begin < std::ssize(result); begin += at_once) {
    const std::int64_t count = std::min(at_once, std::ssize(result) - begin);
    const auto sum = staging.load(0, sums.front() + begin, count, moves);
    for (const float* one : sums.subspan(1))
      add(sum, sum.data(), staging.load(1, one + begin, count, moves).data());
    staging.store(sum, result.data() + begin, moves);
  }
}

std::int64_t GradientSums::pair_at_once(const SharedParameter& parameter,
                                        const StagingBuffer& staging) {
  return graph::elements_at_once({.elements = parameter.elements(), .tensors = 2}, staging.bytes());
}

const float* GradientSums::to_read(const SharedParameter& parameter) const {
  return parameter.plan->gradients.size() > 1 ? own_sum_of(parameter, 0).data()
                                              : sum_of(parameter, 0);
}

double GradientSums::squared_norm(const SharedParameter& parameter, float scale,
                                  const StagingBuffer& staging) const {
  const float* const sum = to_read(parameter);
  const std::int64_t elements = parameter.elements();
  double squared = 0;  // The norm is added up over its blocks, in the order of the blocks.
  for (std::int64_t begin = 0; begin < elements; begin += graph::norm_block) {
    const std::int64_t count = std::min(graph::norm_block, elements - begin);
    const std::span<const float> block =
        parameter.sums_on_host()
            ? staging.load(0, sum + begin, count, arena_->accumulator_moves())
            : std::span<const float>(sum + begin, static_cast<std::size_t>(count));
    squared += graph::squared_norm(block, scale);
    staging.beat();
  }
  return squared;
}

void GradientSums::norm_part(const SharedParameter& parameter, float scale,
                             const StagingBuffer& staging, graph::NormPart& part) const {
  const float* const sum = to_read(parameter);
  const auto sums = [&](const graph::Part& of) -> std::span<const float> {
    if (parameter.sums_on_host())
      return staging.load(0, sum + of.begin, size(of), arena_->accumulator_moves());
    return {sum + of.begin, static_cast<std::size_t>(size(of))};
  };
  const auto squared_norm = [&](const graph::Part& of) {
    staging.beat();
    return graph::squared_norm(sums(of), scale);
  };
  const auto elements = [&](const graph::Part& of, float* to) {
    for (const float one : sums(of)) *to++ = one * scale;
  };
  // The lambdas are passed by reference, because a std::function would allocate memory for a lambda
  // with so many captures.
  graph::norm_part(parameter.share, parameter.elements(),
                   {std::cref(squared_norm), std::cref(elements)}, part);
}

const float* GradientSums::sum_of(const SharedParameter& parameter, std::size_t use) const {
  const auto& reduced = of_stage_.at(parameter.plan->gradients[use].stage).reduced;
  if (parameter.sharded || !reduced) return own_sum_of(parameter, use).data();
  return sum_in(*reduced->replicas.front(), parameter, use).data();
}

std::span<float> GradientSums::own_sum_of(const SharedParameter& parameter, std::size_t use) const {
  return sum_in(arena_of(parameter.plan->gradients[use].stage), parameter, use);
}

std::span<float> GradientSums::sum_in(Arena& arena, const SharedParameter& parameter,
                                      std::size_t use) {
  const graph::GradientPlan& gradient = parameter.plan->gradients[use];
  return arena.accumulator(gradient.home, parameter.elements());
}

}  // namespace penstock::actors
