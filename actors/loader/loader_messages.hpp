// These are the messages of the loader's protocol, with who sends them to whom.
#pragma once

#include <caf/allowed_unsafe_message_type.hpp>
#include <caf/typed_actor.hpp>
#include <cstdint>
#include <memory>

#include "actors/loader/loader_core.hpp"
#include "actors/loader/stream_core.hpp"

namespace penstock::actors {

/// Consumer -> loader: say at the consumer's BatchPort that you have begun.
struct Begin {};

/// Consumer -> loader: assemble the batches of this epoch from now on; whatever the last one still
/// had to give is dropped.
struct StartEpoch {
  std::uint64_t epoch = 0;
  /// Says what the epoch visits. If it is null, the loader's settings say that.
  std::shared_ptr<const EpochPlan> plan = {};
};

/// Consumer -> loader: give me this batch of the epoch; I am done with those before it. The loader
/// gives the batch, once it is complete, to the consumer's BatchPort under `number`, or the reason
/// why there is no batch. If the consumer asks for the same batch again, the loader gives it again,
/// so that no answer is lost for which the consumer has not waited. The memory is the consumer's
/// until it drops the tensors.
struct TakeBatch {
  std::int64_t batch = 0;
  std::uint64_t number = 0;
};

/// Reader -> loader: this has become of the task, and the reader no longer holds the task's memory.
/// An exception of the source is part of the result.
template <class Result>
struct TaskDone {
  int reader = 0;
  Result result = {};
};

using Loader =
    caf::typed_actor<caf::reacts_to<Begin>, caf::reacts_to<StartEpoch>, caf::reacts_to<TakeBatch>>;
template <class Result>
using LoaderActorOf = Loader::extend<caf::reacts_to<TaskDone<Result>>>;
using LoaderActor = LoaderActorOf<ReadResult>;
using StreamLoaderActor = LoaderActorOf<FillResult>;

}  // namespace penstock::actors

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(penstock::actors::Begin)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(penstock::actors::StartEpoch)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(penstock::actors::TakeBatch)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(penstock::actors::TaskDone<penstock::actors::ReadResult>)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(penstock::actors::TaskDone<penstock::actors::FillResult>)
