#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "actors/loader/loader_order.hpp"
#include "graph/values/hosts_thread.hpp"
#include "graph/values/number_range.hpp"
#include "graph/values/text.hpp"
#include "penstock/composed_datasets.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

constexpr double fractions_tolerance = 1e-6;

/// A DatasetPart has some of the samples of another dataset.
class DatasetPart : public Dataset {
 public:
  /// Makes a part of the samples `order`[i] or, if `order` is empty, of `count` samples from
  /// `first` on.
  DatasetPart(std::shared_ptr<const Dataset> dataset, std::vector<std::int64_t> order,
              std::int64_t first, std::int64_t count)
      : dataset_(std::move(dataset)), order_(std::move(order)), first_(first), count_(count) {}

  std::int64_t size() const override { return count_; }
  const std::vector<Field>& fields() const override { return dataset_->fields(); }
  void read(const SampleRequest& request, std::span<std::byte* const> destinations) const override {
    SampleRequest whole = request;
    whole.index =
        order_.empty() ? first_ + request.index : order_[static_cast<std::size_t>(request.index)];
    call_host([&] { dataset_->read(whole, destinations); });
  }

 private:
  std::shared_ptr<const Dataset> dataset_;
  std::vector<std::int64_t> order_;
  std::int64_t first_;
  std::int64_t count_;
};

std::int64_t size_to_divide(const std::string& subject,
                            const std::shared_ptr<const Dataset>& dataset) {
  if (!dataset) throw Error(Errc::invalid_argument, subject + ": expected a dataset, got none");
  return call_host([&] { return dataset->size(); });
}

void check_part_counts(const std::vector<std::int64_t>& counts, std::int64_t samples) {
  std::int64_t left = samples;
  for (const std::int64_t count : counts) {
    if (count < 0)
      throw Error(Errc::invalid_argument,
                  "split_by_counts: expected counts of 0 or more, got " + std::to_string(count));
    left = count > left ? -1 : left - count;
    if (left < 0) break;
  }
  if (left != 0)
    throw Error(
        Errc::invalid_data,
        "split_by_counts: expected counts that add up to " + count_text(samples, "sample") +
            ", got " +
            shortened(joined(counts, [](std::int64_t count) { return std::to_string(count); })));
}

std::vector<std::shared_ptr<const Dataset>> divided_into(
    const std::shared_ptr<const Dataset>& dataset, std::int64_t samples,
    const std::vector<std::int64_t>& counts, const PartOrder& order) {
  std::vector<std::int64_t> whole;
  if (order.shuffle) whole = actors::shuffled_order(samples, order.seed, 0, "split");
  std::vector<std::shared_ptr<const Dataset>> parts;
  std::int64_t first = 0;
  for (const std::int64_t count : counts) {
    std::vector<std::int64_t> own;
    if (order.shuffle) own.assign(whole.begin() + first, whole.begin() + first + count);
    parts.push_back(std::make_shared<DatasetPart>(dataset, std::move(own), first, count));
    first += count;
  }
  return parts;
}

std::vector<std::int64_t> counts_of(const std::vector<double>& fractions, std::int64_t samples) {
  double sum = 0;
  for (const double fraction : fractions) {
    check_number("split_by_fractions: fraction", fraction, {0, 1});
    sum += fraction;
  }
  if (!(std::abs(sum - 1) <= fractions_tolerance))
    throw Error(Errc::invalid_argument,
                "split_by_fractions: expected fractions that add up to 1, got a sum of " +
                    number_text(sum));
  std::vector<std::int64_t> counts;
  std::int64_t left = samples;
  for (const double fraction : fractions) {
    const auto wanted =
        static_cast<std::int64_t>(std::floor(static_cast<double>(samples) * fraction));
    counts.push_back(std::min(wanted, left));
    left -= counts.back();
  }
  for (std::size_t i = 0; left > 0; i = (i + 1) % counts.size(), --left) ++counts[i];
  return counts;
}

}  // namespace

std::vector<std::shared_ptr<const Dataset>> split_by_counts(std::shared_ptr<const Dataset> dataset,
                                                            const std::vector<std::int64_t>& counts,
                                                            const PartOrder& order) {
  return on_hosts_thread("split_by_counts", [&] {
    const std::int64_t samples = size_to_divide("split_by_counts", dataset);
    check_part_counts(counts, samples);
    return divided_into(dataset, samples, counts, order);
  });
}

std::vector<std::shared_ptr<const Dataset>> split_by_fractions(
    std::shared_ptr<const Dataset> dataset, const std::vector<double>& fractions,
    const PartOrder& order) {
  return on_hosts_thread("split_by_fractions", [&] {
    const std::int64_t samples = size_to_divide("split_by_fractions", dataset);
    return divided_into(dataset, samples, counts_of(fractions, samples), order);
  });
}

}  // namespace penstock
