#include "actors/pipeline/host_store_actor.hpp"

#include "actors/system/base_init.hpp"
#include "actors/system/errors.hpp"

namespace penstock::actors {

caf::result<FetchedState> HostStoreState::on_fetch(const FetchState& message) {
  auto node = blocks.extract(message.key);
  if (node.empty()) {
    const auto stages = static_cast<std::int64_t>(setup->stages());
    return to_caf(Errc::internal, "host store: holds no optimizer state of " +
                                      stage_name(*setup, message.key / stages,
                                                 static_cast<std::size_t>(message.key % stages)));
  }
  return FetchedState{std::move(node.mapped())};
}

HostStoreHandle::behavior_type host_store_actor(
    HostStoreHandle::stateful_pointer<HostStoreState> self,
    const std::shared_ptr<const PipelineSetup>& setup) {
  base_init(self);
  self->state.setup = setup;
  return {[=](StoreState& message) { self->state.on_store(message); },
          [=](const FetchState& message) { return self->state.on_fetch(message); }};
}

}  // namespace penstock::actors
