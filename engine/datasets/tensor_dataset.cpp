#include <cstring>

#include "graph/values/out_of_memory.hpp"
#include "penstock/dataset.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

class TensorDataset : public Dataset {
 public:
  explicit TensorDataset(std::vector<Tensor> tensors) : tensors_(std::move(tensors)) {
    for (const Tensor& tensor : tensors_)
      fields_.push_back({"tensor " + std::to_string(fields_.size()), tensor.dtype(),
                         Shape(tensor.shape().dims().subspan(1))});
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

void check_rows(const Tensor& tensor, const Tensor& first) {
  if (!tensor || tensor.shape().rank() == 0)
    throw Error(Errc::shape_mismatch,
                "tensor_dataset: expected tensors whose dimension 0 counts the samples, got " +
                    (tensor ? to_string(tensor.shape()) : std::string("an empty one")));
  if (tensor.shape()[0] != first.shape()[0])
    throw Error(Errc::shape_mismatch,
                "tensor_dataset: expected " + std::to_string(first.shape()[0]) +
                    " samples as in the first tensor, got " + to_string(tensor.shape()));
}

class FirstSamples : public Dataset {
 public:
  FirstSamples(std::shared_ptr<const Dataset> dataset, std::int64_t count)
      : dataset_(std::move(dataset)), count_(count) {}

  std::int64_t size() const override { return count_; }
  const std::vector<Field>& fields() const override { return dataset_->fields(); }
  void read(const SampleRequest& request, std::span<std::byte* const> destinations) const override {
    dataset_->read(request, destinations);
  }

 private:
  std::shared_ptr<const Dataset> dataset_;
  std::int64_t count_;
};

}  // namespace

std::shared_ptr<const Dataset> tensor_dataset(std::vector<Tensor> tensors) {
  return or_out_of_memory("tensor_dataset", [&]() -> std::shared_ptr<const Dataset> {
    if (tensors.empty())
      throw Error(Errc::invalid_data, "tensor_dataset: expected at least one tensor, got none");
    for (const Tensor& tensor : tensors) check_rows(tensor, tensors.front());
    return std::make_shared<TensorDataset>(std::move(tensors));
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
