// These are the messages of a loader's actor, its consumer and its readers. The comment on a
// message begins with sender -> receiver, and then says in the sender's words what the message
// tells the receiver.
#pragma once

#include <caf/allowed_unsafe_message_type.hpp>
#include <caf/typed_actor.hpp>
#include <cstdint>
#include <memory>

#include "actors/loader/loader_core.hpp"
#include "actors/loader/stream_core.hpp"

namespace penstock::actors {

/// Consumer -> loader: say at my BatchPort that you have begun.
struct Begin {};

/// Consumer -> loader: assemble the batches of this epoch from now on, and drop those of the last
/// epoch that I have not taken.
struct StartEpoch {
  std::uint64_t epoch = 0;
  /// The epoch visits the samples of this plan. If this is null, the loader makes a plan from its
  /// settings.
  std::shared_ptr<const EpochPlan> plan = {};
  /// This is the number of the first batch that I will take. A loader of streams ignores it.
  std::int64_t first_batch = 0;
};

/// Consumer -> loader: give me this batch of the epoch; I am done with earlier ones. Once the batch
/// is complete, the loader gives it to the consumer's BatchPort under `number`; if there is no
/// batch, the loader gives the reason. If the consumer asks for the same batch again, because it
/// did not wait for the first answer, the loader gives the batch again. The batch's memory belongs
/// to the consumer until the consumer drops the tensors.
struct TakeBatch {
  std::int64_t batch = 0;
  std::uint64_t number = 0;
};

/// Reader -> loader: this is the result of the task, and I no longer hold the task's memory. An
/// exception of the source is part of the result.
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
