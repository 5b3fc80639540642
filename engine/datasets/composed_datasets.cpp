#include "penstock/composed_datasets.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "graph/values/memory.hpp"
#include "graph/values/out_of_memory.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

constexpr std::int64_t most_samples = std::int64_t{1} << 62;

std::string field_description(const Field& field) {
  return (field.name.empty() ? "" : quoted_text(field.name) + " ") +
         std::string(to_string(field.dtype)) + " " + to_string(field.shape);
}

std::string fields_description(const std::vector<Field>& fields) {
  return fields.empty() ? "no fields" : shortened(joined(fields, field_description));
}

std::vector<Field> hosts_fields(const Dataset& dataset) {
  return call_host([&]() -> std::vector<Field> { return dataset.fields(); });
}

bool same_field(const Field& a, const Field& b) {
  return a.name == b.name && a.dtype == b.dtype && a.shape == b.shape;
}

/// A Concatenation has the samples of several datasets.
class Concatenation : public Dataset {
 public:
  explicit Concatenation(std::vector<std::shared_ptr<const Dataset>> datasets)
      : datasets_(std::move(datasets)), fields_(hosts_fields(*datasets_.front())) {
    for (std::size_t i = 0; i < datasets_.size(); ++i) {
      const std::vector<Field> fields = hosts_fields(*datasets_[i]);
      if (!std::ranges::equal(fields, fields_, same_field))
        throw Error(Errc::shape_mismatch, "concat_datasets: dataset " + std::to_string(i) +
                                              ": expected " + fields_description(fields_) +
                                              ", as dataset 0 has, got " +
                                              fields_description(fields));
      const std::int64_t samples = call_host([&] { return datasets_[i]->size(); });
      if (samples > most_samples - size())
        throw Error(Errc::invalid_data, "concat_datasets: expected at most 2^62 samples, got more");
      ends_.push_back(size() + samples);
    }
  }

  std::int64_t size() const override { return ends_.empty() ? 0 : ends_.back(); }
  const std::vector<Field>& fields() const override { return fields_; }
  void read(const SampleRequest& request, std::span<std::byte* const> destinations) const override {
    const auto end = std::ranges::upper_bound(ends_, request.index);
    SampleRequest inner = request;
    if (end != ends_.begin()) inner.index -= *(end - 1);
    const Dataset& dataset = *datasets_[static_cast<std::size_t>(end - ends_.begin())];
    call_host([&] { dataset.read(inner, destinations); });
  }

 private:
  std::vector<std::shared_ptr<const Dataset>> datasets_;
  std::vector<Field> fields_;
  /// Dataset i has the samples before number `ends_`[i], except those of the datasets before it.
  std::vector<std::int64_t> ends_;
};

/// A MappedDataset has samples that a function of the host's makes of those of another dataset.
class MappedDataset : public Dataset {
 public:
  MappedDataset(std::shared_ptr<const Dataset> dataset, std::vector<Field> fields,
                SampleFunction function)
      : dataset_(std::move(dataset)),
        inner_(hosts_fields(*dataset_)),
        fields_(std::move(fields)),
        function_(std::move(function)) {}

  std::int64_t size() const override { return dataset_->size(); }
  const std::vector<Field>& fields() const override { return fields_; }
  void read(const SampleRequest& request, std::span<std::byte* const> destinations) const override {
    const std::vector<Tensor> sample = inner_sample(request);
    const std::vector<Tensor> made = call_host([&] { return function_(sample, request); });
    check(made);
    for (std::size_t i = 0; i < made.size(); ++i)
      if (made[i].bytes() != 0) std::memcpy(destinations[i], made[i].raw(), made[i].bytes());
  }

 private:
  std::vector<Tensor> inner_sample(const SampleRequest& request) const {
    std::vector<std::shared_ptr<std::byte>> blocks;
    std::vector<std::byte*> destinations;
    for (const Field& field : inner_) {
      blocks.push_back(
          allocate_block(static_cast<std::size_t>(field.shape.elements()) * size_of(field.dtype)));
      destinations.push_back(blocks.back().get());
    }
    call_host([&] { dataset_->read(request, destinations); });
    std::vector<Tensor> sample;
    for (std::size_t i = 0; i < inner_.size(); ++i)
      sample.push_back(Tensor::wrap(inner_[i].dtype, inner_[i].shape, blocks[i]));
    return sample;
  }

  void check(const std::vector<Tensor>& made) const {
    const auto refuse_sample = [](const std::string& expected, const std::string& got) {
      throw Error(Errc::shape_mismatch,
                  "map_dataset: expected that the function returns " + expected + ", got " + got);
    };
    if (made.size() != fields_.size())
      refuse_sample(count_text(std::ssize(fields_), "tensor"), std::to_string(made.size()));
    for (std::size_t i = 0; i < made.size(); ++i) {
      if (!made[i]) refuse_sample(field_description(fields_[i]), "an empty tensor");
      if (made[i].dtype() != fields_[i].dtype || made[i].shape() != fields_[i].shape)
        refuse_sample(field_description(fields_[i]),
                      std::string(to_string(made[i].dtype())) + " " + to_string(made[i].shape()));
    }
  }

  std::shared_ptr<const Dataset> dataset_;
  std::vector<Field> inner_;
  std::vector<Field> fields_;
  SampleFunction function_;
};

}  // namespace

std::shared_ptr<const Dataset> concat_datasets(
    std::vector<std::shared_ptr<const Dataset>> datasets) {
  return or_out_of_memory("concat_datasets", [&]() -> std::shared_ptr<const Dataset> {
    if (datasets.empty() || std::ranges::count(datasets, nullptr) > 0)
      throw Error(Errc::invalid_argument, datasets.empty()
                                              ? "concat_datasets: expected datasets, got none"
                                              : "concat_datasets: expected datasets, got a null "
                                                "pointer among them");
    return std::make_shared<Concatenation>(std::move(datasets));
  });
}

std::shared_ptr<const Dataset> map_dataset(std::shared_ptr<const Dataset> dataset,
                                           std::vector<Field> fields, SampleFunction function) {
  return or_out_of_memory("map_dataset", [&]() -> std::shared_ptr<const Dataset> {
    const auto refuse_map = [](const std::string& expected) {
      throw Error(Errc::invalid_argument, "map_dataset: expected " + expected + ", got none");
    };
    if (!dataset) refuse_map("a dataset");
    if (fields.empty()) refuse_map("fields");
    if (!function) refuse_map("a function");
    return std::make_shared<MappedDataset>(std::move(dataset), std::move(fields),
                                           std::move(function));
  });
}

}  // namespace penstock
