#include "engine/loader/loader_checks.hpp"

#include "graph/values/canonical_floats.hpp"
#include "graph/values/number_range.hpp"
#include "graph/values/text.hpp"
#include "penstock/options.hpp"

namespace penstock {
namespace {

void check_partition(const DataLoaderOptions& options) {
  const auto [index, count] = options.partition;
  check_number("data_loader.partition.count", count, {1, 1 << 20});
  check_number("data_loader.partition.index", index, {0, static_cast<double>(count - 1)});
  if (count > 1 && options.shuffle && !options.seed)
    throw Error(Errc::invalid_argument,
                "data_loader.seed: expected one that all partitions share, since they "
                "shuffle, got none");
}

void check_batch_of(const Field& field, std::int64_t rows) try {
  std::vector<std::int64_t> dims{rows};
  dims.insert(dims.end(), field.shape.begin(), field.shape.end());
  static_cast<void>(Shape(dims));
} catch (const Error& error) {
  const std::string name = field.name.empty() ? "" : quoted_text(field.name) + " ";
  throw Error(Errc::invalid_argument, "data loader: " + std::to_string(rows) + " samples of " +
                                          name + to_string(field.shape) +
                                          " make no batch: " + error.what());
}

}  // namespace

void refuse_empty_dataset() {
  throw Error(Errc::invalid_data, "data loader: the dataset is empty");
}

void check_fields(const std::vector<Field>& fields) {
  if (fields.empty())
    throw Error(Errc::invalid_data,
                "data loader: expected a dataset whose samples have a field at least, got none");
}

void check_rows(std::int64_t rows) {
  const CanonicalFloats floats;  // A rounding may trap in the host's environment.
  check_number("data_loader.samples_per_batch", static_cast<double>(rows), {.low = 1});
}

void check_concatenated(std::int64_t count) {
  const CanonicalFloats floats;
  check_number("data_loader.concatenated", static_cast<double>(count), {.low = 1});
}

void check_threads(const DataLoaderOptions& options) {
  // The host's thread may have another floating-point environment.
  const CanonicalFloats floats;
  check_number("data_loader.workers", options.workers, {0, 1024});
  check_number("data_loader.buffered", options.buffered, {1, 1024});
  check_number("data_loader.timeout_seconds", options.timeout_seconds,
               {.low = 0, .high = 1e9, .above_low = true});
  check_number("data_loader.stop_seconds", options.stop_seconds, {.low = 0, .high = 1e9});
  check_number("data_loader.trace_events", static_cast<double>(options.trace_events),
               {.low = 0, .high = 1e12});
}

void check_order(const DataLoaderOptions& options) {
  const CanonicalFloats floats;
  check_partition(options);
  const std::string why = "a sampler decides on the order";
  expect_none(options.sampler && options.shuffle, "shuffle", why);
  expect_none(options.sampler && options.partition.count > 1, "partition", why);
}

void check_no_order(const DataLoaderOptions& options, const std::string& why) {
  expect_none(options.shuffle, "shuffle", why);
  expect_none(options.sampler != nullptr, "sampler", why);
  expect_none(options.partition.count != 1 || options.partition.index != 0, "partition", why);
}

void expect_none(bool is_set, const std::string& option, const std::string& why) {
  if (is_set)
    throw Error(Errc::invalid_argument,
                "data_loader." + option + ": expected it to be left alone, since " + why);
}

void check_samples(const std::vector<std::int64_t>& order, std::int64_t samples) {
  for (std::size_t i = 0; i < order.size(); ++i)
    if (order[i] < 0 || order[i] >= samples)
      throw Error(Errc::invalid_data, "data loader: the sampler's sample " + std::to_string(i) +
                                          " is " + std::to_string(order[i]) + ", expected 0 to " +
                                          std::to_string(samples - 1));
}

void check_epoch(const LoaderPosition& position, std::uint64_t next_epoch) {
  if (position.epoch < next_epoch)
    throw Error(Errc::invalid_argument,
                "data loader: seek: expected an epoch that has not begun, " +
                    std::to_string(next_epoch) + " or a later one, got " +
                    std::to_string(position.epoch) + "; a new loader can go there");
  if (position.batches < 0)
    throw Error(Errc::invalid_argument, "data loader: seek: expected 0 batches or more, got " +
                                            std::to_string(position.batches));
}

void check_batches(const LoaderPosition& position, std::int64_t batches) {
  if (position.batches <= batches) return;
  throw Error(Errc::invalid_argument, "data loader: seek: expected at most " +
                                          std::to_string(batches) + " batches, which epoch " +
                                          std::to_string(position.epoch) + " has, got " +
                                          std::to_string(position.batches));
}

void check_batch(const std::vector<Field>& fields, std::int64_t rows) {
  for (const Field& field : fields) check_batch_of(field, rows);
}

std::string origin_of_rows(const Options& model) {
  const int group = model.topology.input_group_size;
  return ": a step takes batch_size " + std::to_string(model.batch_size) +
         " x training.gradient_accumulation " +
         std::to_string(model.training.gradient_accumulation) + " x device_iterations " +
         std::to_string(model.device_iterations) + " x topology.replication_factor " +
         std::to_string(model.topology.replication_factor) +
         (group > 1 ? " / topology.input_group_size " + std::to_string(group) : "") +
         "; lower one of these options of the model, or let the loader's drop_last = false make a "
         "shorter batch";
}

}  // namespace penstock
