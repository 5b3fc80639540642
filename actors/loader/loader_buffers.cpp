#include "actors/loader/loader_buffers.hpp"

#include <string>

#include "graph/values/memory.hpp"
#include "penstock/error.hpp"

namespace penstock::actors {
namespace {

Shape with_rows(const Shape& shape, std::int64_t rows) {
  std::vector<std::int64_t> dims{rows};
  dims.insert(dims.end(), shape.begin(), shape.end());
  return Shape(dims);
}

}  // namespace

std::vector<std::size_t> block_bytes(const std::vector<SourceField>& fields, std::int64_t rows) {
  std::vector<std::size_t> bytes;
  for (const SourceField& field : fields)
    bytes.push_back(static_cast<std::size_t>(with_rows(field.shape, rows).elements()) *
                    size_of(field.dtype));
  return bytes;
}

void point_to_row(const std::vector<SourceField>& fields, const BatchBuffer& buffer,
                  std::int64_t row, std::vector<std::byte*>& destinations) {
  destinations.resize(buffer.size());
  for (std::size_t i = 0; i < buffer.size(); ++i) {
    const auto bytes =
        fields[i].shape.elements() * static_cast<std::int64_t>(size_of(fields[i].dtype));
    destinations[i] = buffer[i].get() + row * bytes;
  }
}

std::vector<Tensor> tensors_of(const std::vector<SourceField>& fields, std::int64_t rows,
                               const std::shared_ptr<const BatchBuffer>& buffer) {
  std::vector<Tensor> tensors;
  for (std::size_t i = 0; i < fields.size(); ++i)
    tensors.push_back(Tensor::wrap(fields[i].dtype, with_rows(fields[i].shape, rows),
                                   std::shared_ptr<const std::byte>(buffer, (*buffer)[i].get())));
  return tensors;
}

LoaderBuffers::LoaderBuffers(std::vector<std::size_t> block_bytes)
    : block_bytes_(std::move(block_bytes)) {}

std::shared_ptr<const BatchBuffer> LoaderBuffers::reuse() {
  std::unique_ptr<const BatchBuffer> buffer;
  {
    const std::lock_guard lock(shelf_->mutex);
    if (shelf_->buffers.empty()) return nullptr;
    buffer = std::move(shelf_->buffers.back().buffer);
    shelf_->buffers.pop_back();
  }
  return lend(std::move(buffer));
}

void LoaderBuffers::trim(std::int64_t usual) noexcept {
  const std::lock_guard lock(shelf_->mutex);
  auto& buffers = shelf_->buffers;
  while (allocated_ > usual && !buffers.empty() &&
         shelf_->lends - buffers.front().lends > idle_lends) {
    buffers.erase(buffers.begin());
    --allocated_;
  }
}

BatchBuffer LoaderBuffers::blocks() const try {
  BatchBuffer blocks;
  blocks.reserve(block_bytes_.size());
  for (const std::size_t bytes : block_bytes_) blocks.push_back(allocate_block(bytes));
  return blocks;
} catch (const Error& error) {
  throw Error(error.code(), std::string("data loader: a batch: ") + error.what());
}

std::shared_ptr<const BatchBuffer> LoaderBuffers::allocate() {
  auto buffer = std::make_unique<BatchBuffer>(blocks());
  {
    // The shelf gets room for the buffer now, so that giving the buffer back cannot fail.
    const std::lock_guard lock(shelf_->mutex);
    shelf_->buffers.reserve(static_cast<std::size_t>(allocated_) + 1);
  }
  ++allocated_;  // If lend() fails, the buffer is on the shelf.
  return lend(std::move(buffer));
}

std::shared_ptr<const BatchBuffer> LoaderBuffers::allocate_or_reuse() try {
  return allocate();
} catch (...) {
  if (auto buffer = reuse()) return buffer;
  throw;
}

std::shared_ptr<const BatchBuffer> LoaderBuffers::lend(std::unique_ptr<const BatchBuffer> buffer) {
  {
    const std::lock_guard lock(shelf_->mutex);
    ++shelf_->lends;
  }
  return {buffer.release(), [shelf = std::weak_ptr(shelf_)](const BatchBuffer* returned) {
            std::unique_ptr<const BatchBuffer> owner(returned);
            const auto home = shelf.lock();
            if (!home || !home->process.is_current()) return;
            const std::lock_guard lock(home->mutex);
            home->buffers.push_back({std::move(owner), home->lends});
          }};
}

}  // namespace penstock::actors
