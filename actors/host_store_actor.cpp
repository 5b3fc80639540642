#include "actors/host_store_actor.hpp"

#include <string>

#include "actors/base_init.hpp"
#include "actors/errors.hpp"

namespace penstock::actors {

caf::result<FetchedState> HostStoreState::on_fetch(const FetchState& message) {
  auto node = blocks.extract(message.key);
  if (node.empty())
    return to_caf(Errc::internal, "host store: nothing under key " + std::to_string(message.key));
  return FetchedState{std::move(node.mapped())};
}

HostStoreHandle::behavior_type host_store_actor(
    HostStoreHandle::stateful_pointer<HostStoreState> self) {
  base_init(self);
  return {[=](StoreState& message) { self->state.on_store(message); },
          [=](const FetchState& message) { return self->state.on_fetch(message); }};
}

}  // namespace penstock::actors
