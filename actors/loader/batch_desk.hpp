// A BatchDesk answers the questions of the consumer of a loader's actor. `Core`, which is
// LoaderCore or StreamCore, has the rules by which batches are made. If memory runs out, the
// consumer is told, and nothing is lost: the consumer's next question makes the loader try again.
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

  /// Gives the consumer the batch that the consumer asked for, if the batch is complete, and calls
  /// `hand_out()`, which gives tasks to readers. `ready` says whether a batch that is given was
  /// complete when the consumer asked for it. The consumer gets the batch before readers get tasks,
  /// because that makes room for further tasks.
  void advance(bool ready, const auto& hand_out) noexcept {
    give(ready);
    std::optional<LoadFailure> shortage = tried(hand_out);
    give(ready);
    // The consumer is not told of a lack of memory while a task is under way, because the batch may
    // need no other task.
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
  // This is the number of the consumer's question, as long as the question has no answer.
  std::optional<std::uint64_t> question_;
};

}  // namespace penstock::actors
