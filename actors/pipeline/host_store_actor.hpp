// The host store keeps blocks of memory that are not on an IPU. An actor that fetches a block owns
// it until the block is stored again.
#pragma once

#include <map>
#include <string>

#include "actors/messages/local_messages.hpp"

namespace penstock::actors {

/// Returns what a block holds, such as "weights" or "stash of micro-batch 7".
std::string text_of(const BlockKey& key);

struct HostStoreState {
  void on_store(StoreBlock& message) { blocks[message.key] = std::move(message.block); }
  caf::result<FetchedBlock> on_fetch(const FetchBlock& message);

  std::shared_ptr<const PipelineSetup> setup;
  std::map<BlockKey, std::shared_ptr<std::byte>> blocks;
};

HostStoreHandle::behavior_type host_store_actor(
    HostStoreHandle::stateful_pointer<HostStoreState> self,
    const std::shared_ptr<const PipelineSetup>& setup);

}  // namespace penstock::actors
