#include "actors/loader/loader_messages.hpp"

namespace penstock::actors {

void deliver_batch(caf::typed_response_promise<LoadedBatch>& consumer, LoadedBatch batch) {
  if (batch.failure)
    consumer.deliver(to_caf(batch.failure->code, batch.failure->text));
  else
    consumer.deliver(std::move(batch));
}

}  // namespace penstock::actors
