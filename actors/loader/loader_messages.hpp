// The loader's protocol: its messages, and who sends them to whom.
#pragma once

#include <caf/allowed_unsafe_message_type.hpp>
#include <caf/typed_actor.hpp>
#include <caf/typed_response_promise.hpp>
#include <cstdint>
#include <exception>
#include <memory>

#include "actors/loader/loader_core.hpp"
#include "actors/loader/stream_core.hpp"
#include "actors/system/errors.hpp"

namespace penstock::actors {

struct ReadRows;  // they hold a handle, whose type names them
struct FillRows;

/// Consumer -> loader: assemble the batches of this epoch from now on; whatever the last one still
/// had to give is dropped.
struct StartEpoch {
  std::uint64_t epoch = 0;
  std::shared_ptr<const EpochPlan> plan = {};  ///< what it visits; null: what the settings say
};

/// Consumer -> loader: I want this batch of the epoch, and am done with those before it. Answered
/// once the batch is complete. Asking again for the same one gives it again, so that an answer
/// which came too late is not lost. The memory is the consumer's until it drops the tensors. An
/// unreadable sample is Error invalid_data, until the next epoch.
struct TakeBatch {
  std::int64_t batch = 0;
};

/// Worker -> loader: what has become of its task, of whose memory it has let go. What the source
/// threw is part of the result.
struct RowsRead {
  int worker = 0;
  ReadResult result = {};
};

/// Worker -> loader of streams: what has become of its task, of whose memory it has let go. What
/// the stream threw is part of the result.
struct RowsFilled {
  FillResult result = {};
};

using Loader =
    caf::typed_actor<caf::reacts_to<StartEpoch>, caf::replies_to<TakeBatch>::with<LoadedBatch>>;
using RowsReader = caf::typed_actor<caf::reacts_to<RowsRead>>;
using LoaderActor = Loader::extend<caf::reacts_to<RowsRead>>;
using LoaderWorker = caf::typed_actor<caf::reacts_to<ReadRows>>;

/// Loader -> worker: read these rows; you alone write to them.
struct ReadRows {
  RowsReader reader;  ///< told when it is done, however long the source takes
  ReadTask task = {};
};

using StreamReader = caf::typed_actor<caf::reacts_to<RowsFilled>>;
using StreamLoaderActor = Loader::extend<caf::reacts_to<RowsFilled>>;
using StreamWorker = caf::typed_actor<caf::reacts_to<FillRows>>;

/// Loader of streams -> worker: fill these rows from your stream of the task's epoch; you alone
/// write to them.
struct FillRows {
  StreamReader reader;  ///< told when it is done, however long the stream takes
  FillTask task = {};
};

/// The consumer's answer: the batch, or its failure as an Error.
void deliver_batch(caf::typed_response_promise<LoadedBatch>& consumer, LoadedBatch batch);

/// Does `work`. What that throws ends the actor, and a promise that ends with it is never heard of:
/// it is the consumer's answer first, if that has none.
void or_deliver_failure(caf::typed_response_promise<LoadedBatch>& consumer, const auto& work) try {
  work();
} catch (...) {
  if (consumer.pending()) consumer.deliver(to_caf(std::current_exception()));
  throw;
}

}  // namespace penstock::actors

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(penstock::actors::StartEpoch)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(penstock::actors::TakeBatch)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(penstock::actors::LoadedBatch)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(penstock::actors::RowsRead)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(penstock::actors::ReadRows)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(penstock::actors::RowsFilled)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(penstock::actors::FillRows)
