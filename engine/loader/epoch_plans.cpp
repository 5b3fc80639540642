#include "engine/loader/epoch_plans.hpp"

#include <string>
#include <utility>

#include "engine/loader/loader_checks.hpp"
#include "graph/values/out_of_memory.hpp"
#include "penstock/error.hpp"

namespace penstock {

using actors::EpochPlan;

EpochSize epoch_size(std::int64_t samples, std::int64_t rows, const DataLoaderOptions& options) {
  EpochSize size;
  const std::int64_t in_each = samples / options.partition.count, remainder = in_each % rows;
  size.used = options.drop_last ? in_each - remainder : in_each;
  size.batches = size.used / rows + (size.used % rows != 0 ? 1 : 0);
  size.dropped = samples - options.partition.count * size.used;
  size.short_rows = size.used % rows;
  return size;
}

EpochPlan sampled_plan(const DataLoaderOptions& options, std::int64_t rows, std::int64_t samples,
                       std::uint64_t epoch) {
  EpochPlan plan{.order = call_host([&] { return options.sampler(epoch); })};
  check_samples(plan.order, samples);
  const auto visited = static_cast<std::int64_t>(plan.order.size());
  plan.equal = {visited, rows, epoch_size(visited, rows, options).batches};
  return plan;
}

EpochPlan batch_sampled_plan(const BatchSampler& sampler, std::int64_t concatenated,
                             std::int64_t samples, std::uint64_t epoch) {
  const std::vector<std::vector<std::int64_t>> batches = call_host([&] { return sampler(epoch); });
  EpochPlan plan;
  for (std::size_t i = 0; i < batches.size(); ++i) {
    if (batches[i].empty())
      throw Error(Errc::invalid_data,
                  "data loader: the sampler's batch " + std::to_string(i) + " is empty");
    plan.order.insert(plan.order.end(), batches[i].begin(), batches[i].end());
    if ((static_cast<std::int64_t>(i) + 1) % concatenated == 0)
      plan.ends.push_back(static_cast<std::int64_t>(plan.order.size()));
  }
  check_samples(plan.order, samples);
  return plan;
}

}  // namespace penstock
