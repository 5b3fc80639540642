#include "actors/pipeline/host_store_actor.hpp"

#include "actors/system/errors.hpp"

namespace penstock::actors {

std::string text_of(const BlockKey& key) {
  switch (key.of) {
    case HostClass::optimizer_state:
      return "optimizer state";
    case HostClass::accumulators:
      return "gradient sums";
    case HostClass::weights:
      return "weights";
    case HostClass::stash:
      return "stash of micro-batch " + std::to_string(key.micro_batch);
  }
  return "";
}

caf::result<FetchedBlock> HostStoreState::on_fetch(const FetchBlock& message) {
  std::map<BlockKey, std::shared_ptr<std::byte>>::node_type node;
  traced(setup->host_trace.get(),
         {.actor = HostActor::host_store,
          .replica = message.key.replica,
          .stage = message.key.stage,
          .micro_batch = message.key.of == HostClass::stash ? message.key.micro_batch : -1},
         [&] { node = blocks.extract(message.key); });
  if (node.empty())
    return to_caf(
        Errc::internal,
        std::string("host store: holds no ") + text_of(message.key) + " of " +
            stage_name(*setup, message.key.replica, static_cast<std::size_t>(message.key.stage)));
  return FetchedBlock{std::move(node.mapped())};
}

HostStoreHandle::behavior_type host_store_actor(
    HostStoreHandle::stateful_pointer<HostStoreState> self,
    const std::shared_ptr<const PipelineSetup>& setup) {
  self->state.setup = setup;
  return {[=](StoreBlock& message) { self->state.on_store(message); },
          [=](const FetchBlock& message) { return self->state.on_fetch(message); }};
}

}  // namespace penstock::actors
