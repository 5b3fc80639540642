#include "actors/loader_buffers.hpp"

#include "engine/values/memory.hpp"

namespace penstock::actors {

LoaderBuffers::LoaderBuffers(std::vector<std::size_t> block_bytes)
    : block_bytes_(std::move(block_bytes)) {}

std::shared_ptr<const BatchBuffer> LoaderBuffers::reuse() {
  std::unique_ptr<const BatchBuffer> buffer;
  {
    const std::lock_guard lock(shelf_->mutex);
    if (shelf_->buffers.empty()) return nullptr;
    buffer = std::move(shelf_->buffers.back());
    shelf_->buffers.pop_back();
  }
  return lend(std::move(buffer));
}

std::shared_ptr<const BatchBuffer> LoaderBuffers::allocate() {
  auto buffer = std::make_unique<BatchBuffer>();
  for (const std::size_t bytes : block_bytes_) buffer->push_back(allocate_block(bytes));
  {
    // Room for it, so that giving it back cannot fail.
    const std::lock_guard lock(shelf_->mutex);
    shelf_->buffers.reserve(static_cast<std::size_t>(allocated_) + 1);
  }
  ++allocated_;
  return lend(std::move(buffer));
}

std::shared_ptr<const BatchBuffer> LoaderBuffers::lend(std::unique_ptr<const BatchBuffer> buffer) {
  return {buffer.release(), [shelf = std::weak_ptr(shelf_)](const BatchBuffer* returned) {
            std::unique_ptr<const BatchBuffer> owner(returned);
            if (const auto home = shelf.lock()) {
              const std::lock_guard lock(home->mutex);
              home->buffers.push_back(std::move(owner));
            }
          }};
}

}  // namespace penstock::actors
