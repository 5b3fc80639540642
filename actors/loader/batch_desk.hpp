// BatchDesk serves the consumer of a loader actor, given the rules (LoaderCore or StreamCore) by
// which batches come about. Where memory runs out the consumer is told so, and
// nothing is lost: its next question tries again.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "actors/loader/batch_port.hpp"
#include "actors/loader/load_failure.hpp"
#include "actors/loader/loader_messages.hpp"

namespace penstock::actors {

template <class Core>
class BatchDesk {
 public:
  BatchDesk(Core core, std::shared_ptr<BatchPort> port)
      : core_(std::move(core)), port_(std::move(port)) {}

  Core& core() noexcept { return core_; }

  void ask(const TakeBatch& message) noexcept {
    question_ = message.number;
    core_.ask(message.batch);
  }

  /// Forgets the question, because the consumer has begun another epoch and waits for nothing.
  void forget() noexcept { question_.reset(); }

  /// Hands out what tasks there are, by `hand_out()`, and gives the consumer its batch if the batch
  /// is complete. `ready` says whether the batch was complete when it was asked for. The batch is
  /// given first, because it makes room for other tasks.
  void advance(bool ready, const auto& hand_out) noexcept {
    give(ready);
    std::optional<LoadFailure> shortage = tried(hand_out);
    give(ready);
    // A shortage is no answer while something is being read, for that may be all that the batch
    // needs.
    if (shortage && !core_.reads()) answer({{}, std::move(shortage), false, 0});
  }

 private:
  static std::optional<LoadFailure> tried(const auto& work) noexcept try {
    work();
    return std::nullopt;
  } catch (...) {
    return failure_of(std::current_exception(), Errc::internal, [] { return std::string(); });
  }

  void give(bool ready) noexcept {
    if (!question_) return;
    auto failure = tried([&] {
      std::optional<LoadedBatch> batch = core_.asked_batch();
      if (!batch) return;
      batch->ready = ready;
      answer(std::move(*batch));
    });
    if (failure) answer({{}, std::move(failure), false, 0});
  }

  void answer(LoadedBatch batch) noexcept {
    if (question_) port_->give(*question_, std::move(batch));
    question_.reset();
  }

  Core core_;
  std::shared_ptr<BatchPort> port_;
  // Is the number of the consumer's question that has no answer yet.
  std::optional<std::uint64_t> question_;
};

}  // namespace penstock::actors
