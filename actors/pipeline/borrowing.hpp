// A Borrowing gets blocks of memory from the host store for a stage or an optimizer. There is at
// most one request for a block at a time. If the store does not have a block, the pipeline fails.
#pragma once

#include <set>
#include <string>
#include <utility>

#include "actors/messages/local_messages.hpp"
#include "actors/pipeline/host_store_actor.hpp"
#include "actors/system/errors.hpp"

namespace penstock::actors {

class Borrowing {
 public:
  /// Asks for the block `wanted`, unless it has been asked for and has not come yet. `take` is
  /// called with the block when it comes. The request has no time limit, because the watchdog
  /// notices an actor that waits for too long. `self` is the actor that borrows, `links` has its
  /// neighbors, and `subject` returns its name for the text of a failure.
  void fetch(auto* self, const auto& links, const BlockKey& wanted, auto subject, auto take) {
    if (!awaited_.insert(wanted).second) return;
    self->request(links.host_store, caf::infinite, FetchBlock{wanted})
        .then(
            [this, wanted, take = std::move(take)](FetchedBlock& fetched) {
              awaited_.erase(wanted);
              take(std::move(fetched.block));
            },
            [self, &links, wanted, subject = std::move(subject)](caf::error& error) {
              const Error cause = to_error(error);
              // If the host store has ended, that is reported by the store itself, with the reason.
              if (cause.code() == Errc::closed) return;
              self->send(links.supervisor,
                         Failed{{cause.code(), missing(subject(), wanted, cause)}});
            });
  }
  /// Returns the blocks that have been asked for and have not come yet.
  const std::set<BlockKey>& awaited() const { return awaited_; }

 private:
  static std::string missing(const std::string& subject, const BlockKey& wanted,
                             const Error& cause) {
    const bool many = wanted.of == HostClass::weights || wanted.of == HostClass::accumulators;
    return subject + ": its " + text_of(wanted) + (many ? " are" : " is") +
           " not in the host store: " + cause.what();
  }

  std::set<BlockKey> awaited_;
};

}  // namespace penstock::actors
