#include "actors/update/reduced_sums.hpp"

#include <algorithm>
#include <functional>
#include <span>
#include <utility>

#include "graph/kernels/kernel_table.hpp"
#include "graph/values/memory.hpp"

namespace penstock::actors {
namespace {

constexpr std::int64_t line_bytes = 64;
/// A piece of a total is so small that it stays in the first-level cache while the replicas' sums
/// are added to it.
constexpr std::int64_t piece_bytes = 1 << 14;
/// Each thread gets at least this many bytes of the totals, which a core adds up in some ten
/// microseconds.
constexpr std::int64_t least_bytes = 1 << 16;

using SumsOf = std::span<std::byte> (Arena::*)();

/// A Totals adds up the totals of those sums that are in one place: on the IPUs, or in the host
/// store.
class Totals {
 public:
  Totals(const ReducedLayout& layout, std::span<const std::shared_ptr<Arena>> replicas, SumsOf sums)
      : layout_(layout), replicas_(replicas), sums_(sums) {}

  /// Adds up the bytes from `begin` to `end` of all ranges together.
  void add_up(std::int64_t begin, std::int64_t end) const {
    const auto& ranges = layout_.ranges;
    auto range = std::ranges::upper_bound(ranges, begin, {}, &ReducedRange::place);
    for (--range; range != ranges.end() && range->place < end; ++range)
      add_up(*range, std::max(begin, range->place), std::min(end, range->place + range->bytes));
  }

 private:
  void add_up(const ReducedRange& range, std::int64_t begin, std::int64_t end) const {
    const auto of_replica = [&](std::size_t replica) {
      std::byte* const sums = (*replicas_[replica].*sums_)().data();
      return reinterpret_cast<float*>(sums + range.offset + (begin - range.place));
    };
    float* const total = of_replica(0);
    for (std::size_t replica = 1; replica < replicas_.size(); ++replica)
      graph::kernel_table().arithmetic.add((end - begin) / std::int64_t{sizeof(float)},
                                           {total, false}, {of_replica(replica), false}, total);
  }

  const ReducedLayout& layout_;
  std::span<const std::shared_ptr<Arena>> replicas_;
  SumsOf sums_;
};

/// Adds up the bytes from `begin` to `end` of `totals`, in pieces, on the threads of `by`.
void add_up(const Totals& totals, std::int64_t begin, std::int64_t end, const SharedWork& by,
            graph::Heartbeat* heartbeat) {
  const std::int64_t pieces = (end - begin + piece_bytes - 1) / piece_bytes;
  const std::int64_t parts =
      std::max<std::int64_t>(std::min<std::int64_t>(by.threads, (end - begin) / least_bytes), 1);
  const auto work = [&](std::int32_t part) {
    for (std::int64_t piece = pieces * part / parts; piece < pieces * (part + 1) / parts; ++piece) {
      const std::int64_t first = begin + piece * piece_bytes;
      totals.add_up(first, std::min(first + piece_bytes, end));
      if (heartbeat) heartbeat->beat_of_piece();
    }
  };
  if (by.runner && parts > 1)
    return by.runner->run(static_cast<std::int32_t>(parts), std::ref(work));
  for (std::int32_t part = 0; part < parts; ++part) work(part);
}

}  // namespace

ReducedLayout reduced_layout(const PipelineSetup& setup, const UpdateRules& rules,
                             std::size_t stage, graph::Space space) {
  ReducedLayout layout;
  bool all = true;
  for (const graph::StagePlan& owner : setup.plan->stages)
    for (const graph::VariablePlan& variable : owner.variables)
      for (const graph::GradientPlan& use : variable.gradients) {
        if (static_cast<std::size_t>(use.stage) != stage || use.home.space != space) continue;
        const auto& rule = rules.variables[static_cast<std::size_t>(variable.variable)];
        const bool whole = !is_sharded(setup, rule, variable.type.shape.elements());
        all = all && whole;
        if (whole) layout.ranges.push_back({use.home.offset, aligned(variable.type.bytes())});
      }
  const graph::StagePlan& plan = setup.plan->stages[stage];
  const std::int64_t block =
      graph::in_host_store(space) ? plan.host_accumulator_bytes : plan.accumulator_bytes;
  if (all && block > 0) layout.ranges = {{0, block}};
  std::ranges::sort(layout.ranges, {}, &ReducedRange::offset);
  for (ReducedRange& range : layout.ranges) {
    range.place = layout.bytes;
    layout.bytes += range.bytes;
  }
  return layout;
}

std::shared_ptr<const ReducedSums> make_reduced_sums(const PipelineSetup& setup,
                                                     const UpdateRules& rules, std::size_t stage,
                                                     std::vector<std::shared_ptr<Arena>> replicas) {
  return std::make_shared<const ReducedSums>(ReducedSums{
      reduced_layout(setup, rules, stage, graph::Space::accumulators),
      reduced_layout(setup, rules, stage, graph::Space::host_accumulators), std::move(replicas)});
}

void add_up_slice(const ReducedSums& sums, std::int64_t slice, const SharedWork& by,
                  graph::Heartbeat* heartbeat) {
  const auto add = [&](const ReducedLayout& layout, SumsOf of) {
    const std::int64_t lines = layout.bytes / line_bytes, slices = std::ssize(sums.replicas);
    const std::int64_t begin = lines * slice / slices, end = lines * (slice + 1) / slices;
    if (begin < end)
      add_up({layout, sums.replicas, of}, begin * line_bytes, end * line_bytes, by, heartbeat);
  };
  add(sums.on_ipu, &Arena::accumulators);
  add(sums.in_host_store, &Arena::host_accumulators);
}

}  // namespace penstock::actors
