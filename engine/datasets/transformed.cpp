#include "engine/datasets/transformed.hpp"

#include "graph/ir/random.hpp"
#include "graph/values/out_of_memory.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"

namespace penstock {

ImageSize image_size(const std::string& subject, const std::shared_ptr<const Dataset>& dataset,
                     bool bytes) {
  if (!dataset) throw Error(Errc::invalid_argument, subject + ": expected a dataset, got none");
  const auto fields = call_host([&]() -> std::vector<Field> { return dataset->fields(); });
  if (fields.empty())
    throw Error(Errc::shape_mismatch,
                subject + ": expected an image as first field, got no fields");
  const Field& field = fields.front();
  const bool fits = field.dtype == DType::f32 || (bytes && field.dtype == DType::u8);
  if (!fits || field.shape.rank() != 3)
    throw Error(Errc::shape_mismatch,
                subject + ": expected f32 " + (bytes ? "or u8 " : "") +
                    "[channels,rows,columns] as first field, got " +
                    (field.name.empty() ? "" : quoted_text(field.name) + " ") +
                    std::string(to_string(field.dtype)) + " " + to_string(field.shape));
  return {field.shape[0], field.shape[1], field.shape[2], field.dtype};
}

std::array<std::uint32_t, 4> draw_for_sample(const char* name, std::uint64_t seed,
                                             const SampleRequest& request, std::uint32_t number) {
  return graph::philox({.seed = seed,
                        .update = request.epoch,
                        .micro_batch = number,
                        .name = graph::hash_name(name)},
                       static_cast<std::uint64_t>(request.index));
}

Transformed::Transformed(const std::string& subject, std::shared_ptr<const Dataset> dataset,
                         bool bytes)
    : size_(image_size(subject, dataset, bytes)), dataset_(std::move(dataset)) {}

void Transformed::read(const SampleRequest& request,
                       std::span<std::byte* const> destinations) const {
  call_host([&] { dataset_->read(request, destinations); });
  change(request, destinations[0]);
}

Reframed::Reframed(const ImageSize& image, std::shared_ptr<const Dataset> dataset,
                   std::int64_t rows, std::int64_t columns)
    : size_(image),
      dataset_(std::move(dataset)),
      fields_(call_host([&]() -> std::vector<Field> { return dataset_->fields(); })) {
  fields_.front().shape = {image.channels, rows, columns};
}

void Reframed::read(const SampleRequest& request, std::span<std::byte* const> destinations) const {
  std::vector<std::byte> whole(static_cast<std::size_t>(size_.planes().elements()) *
                               size_of(size_.dtype));
  std::vector<std::byte*> inner(destinations.begin(), destinations.end());
  inner[0] = whole.data();
  call_host([&] { dataset_->read(request, inner); });
  make(request, whole.data(), destinations[0]);
}

}  // namespace penstock
