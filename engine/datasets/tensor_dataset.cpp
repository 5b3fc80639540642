#include <algorithm>
#include <cstring>

#include "graph/values/out_of_memory.hpp"
#include "graph/values/text.hpp"
#include "penstock/dataset.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

class TensorDataset : public Dataset {
 public:
  TensorDataset(std::vector<Tensor> tensors, std::vector<std::string> names)
      : tensors_(std::move(tensors)) {
    names.resize(tensors_.size());
    for (std::size_t i = 0; i < tensors_.size(); ++i)
      fields_.push_back(
          {std::move(names[i]), tensors_[i].dtype(), Shape(tensors_[i].shape().dims().subspan(1))});
  }

  std::int64_t size() const override { return tensors_.front().shape()[0]; }
  const std::vector<Field>& fields() const override { return fields_; }

  void read(const SampleRequest& request, std::span<std::byte* const> destinations) const override {
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      const std::size_t bytes = tensors_[i].bytes() / static_cast<std::size_t>(size());
      if (bytes != 0)
        std::memcpy(destinations[i],
                    tensors_[i].raw() + static_cast<std::size_t>(request.index) * bytes, bytes);
    }
  }

 private:
  std::vector<Tensor> tensors_;
  std::vector<Field> fields_;
};

/// Checks that tensor number `number` has a dimension 0, and as many rows there as tensor 0.
void check_rows(const std::vector<Tensor>& tensors, std::size_t number) {
  const Tensor& tensor = tensors[number];
  const auto refuse = [&](const std::string& expected, const std::string& got) {
    throw Error(Errc::shape_mismatch, "tensor_dataset: tensor " + std::to_string(number) +
                                          ": expected " + expected + ", got " + got);
  };
  if (!tensor || tensor.shape().rank() == 0)
    refuse("one whose dimension 0 counts the samples",
           tensor ? to_string(tensor.shape()) : "an empty one");
  const std::int64_t rows = tensors.front().shape()[0];
  if (tensor.shape()[0] != rows)
    refuse(std::to_string(rows) + " samples, as tensor 0 has", to_string(tensor.shape()));
}

void check_names(const std::vector<std::string>& names, std::size_t tensors) {
  const auto refuse = [](const std::string& text) {
    throw Error(Errc::invalid_argument, "tensor_dataset: expected " + text);
  };
  if (names.size() != tensors)
    refuse("a name for each of " + count_text(static_cast<std::int64_t>(tensors), "tensor") +
           ", got " + std::to_string(names.size()));
  for (const std::string& name : names) {
    if (name.empty()) refuse("names of one letter or more, got \"\"");
    if (std::ranges::count(names, name) > 1)
      refuse("different names, got " + quoted_text(name) + " twice");
  }
}

std::shared_ptr<const Dataset> checked_dataset(std::vector<Tensor> tensors,
                                               std::vector<std::string> names) {
  if (tensors.empty())
    throw Error(Errc::invalid_data, "tensor_dataset: expected at least one tensor, got none");
  for (std::size_t i = 0; i < tensors.size(); ++i) check_rows(tensors, i);
  return std::make_shared<TensorDataset>(std::move(tensors), std::move(names));
}

class FirstSamples : public Dataset {
 public:
  FirstSamples(std::shared_ptr<const Dataset> dataset, std::int64_t count)
      : dataset_(std::move(dataset)), count_(count) {}

  std::int64_t size() const override { return count_; }
  const std::vector<Field>& fields() const override { return dataset_->fields(); }
  void read(const SampleRequest& request, std::span<std::byte* const> destinations) const override {
    call_host([&] { dataset_->read(request, destinations); });
  }

 private:
  std::shared_ptr<const Dataset> dataset_;
  std::int64_t count_;
};

}  // namespace

std::shared_ptr<const Dataset> tensor_dataset(std::vector<Tensor> tensors) {
  return or_out_of_memory("tensor_dataset",
                          [&] { return checked_dataset(std::move(tensors), {}); });
}

std::shared_ptr<const Dataset> tensor_dataset(std::vector<Tensor> tensors,
                                              std::vector<std::string> names) {
  return or_out_of_memory("tensor_dataset", [&] {
    check_names(names, tensors.size());
    return checked_dataset(std::move(tensors), std::move(names));
  });
}

std::shared_ptr<const Dataset> first_samples(std::shared_ptr<const Dataset> dataset,
                                             std::int64_t count) {
  return or_out_of_memory("first_samples", [&]() -> std::shared_ptr<const Dataset> {
    if (!dataset || count < 0)
      throw Error(Errc::invalid_argument, dataset ? "first_samples: expected a count of 0 or more, "
                                                    "got " +
                                                        std::to_string(count)
                                                  : "first_samples: expected a dataset, got none");
    const std::int64_t size = call_host([&] { return dataset->size(); });
    if (size < count)
      throw Error(Errc::invalid_data, "first_samples: expected at least " + std::to_string(count) +
                                          " samples, the dataset has " + std::to_string(size));
    return std::make_shared<FirstSamples>(std::move(dataset), count);
  });
}

}  // namespace penstock
