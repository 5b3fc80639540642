// A stage actor is one stage of one replica. It receives the tensors that its edges bring, lets its
// IPU run the programs that the schedule allows, and sends their results on. It owns the stage's
// arena, and knows how far the stage is in its window.
#pragma once

#include <functional>
#include <optional>

#include "actors/execution/phase_herald.hpp"
#include "actors/execution/stage_core.hpp"
#include "actors/execution/status_board.hpp"
#include "actors/messages/local_messages.hpp"
#include "actors/pipeline/borrowing.hpp"

namespace penstock::actors {

struct StageSetup {
  std::shared_ptr<const PipelineSetup> pipeline = {};
  std::int32_t replica = 0;
  std::int32_t stage = 0;
  std::shared_ptr<Arena> arena = {};
  std::shared_ptr<StatusBoard> status = {};  ///< This is not null.
};

struct StageState {
  void start(StageHandle::pointer actor, StageSetup new_setup);
  void on_links(StageLinks& message);
  void on_edge_tensor(EdgeTensor& message);
  void on_outputs_taken();
  void on_program_done(const ProgramDone& done);
  void on_turn_near(const TurnNear& near);
  void on_weights_brought(const WeightsBrought& brought);
  void on_weights_ready(const WeightsReady& ready);
  void on_explain_wait(const ExplainWait& question) const;

  /// Returns whether the arena has all blocks of the host store that `work` needs, and asks the
  /// host store for those that are missing. Gradient sums are asked for early: only a backward
  /// needs them, but a forward asks for them already.
  bool fetched_for(const Work& work);
  /// Asks the host store for a block, unless the block has been asked for already. When the block
  /// comes, lends it to the arena and calls `then`.
  void fetch(const BlockKey& key, const std::function<void()>& then);
  void lend(const BlockKey& key, std::shared_ptr<std::byte> block);
  /// Puts gradient sums and weights back into the host store, if they belong there.
  void return_blocks();
  void return_stash(std::int64_t micro_batch);
  bool sums_missing() const;
  bool weights_missing() const;
  bool keeps_stash() const { return setup.arena->stage().host_stash_bytes > 0; }
  BlockKey key(HostClass of, std::int64_t micro_batch = 0) const;
  std::string subject() const;
  /// Returns what the stage waits for. While a program runs, the stage waits for its IPU.
  Wait waits_for() const;
  /// In phased execution, if `work` is the first work of a turn, tells the stages whose turn comes
  /// next that their turn is near.
  void herald(const Work& work);
  void bring_ahead(const Work& work);
  const graph::Program& program_of(const Work& work) const;
  /// Starts the next work, if some work may begin.
  void pump();
  void finish(const Work& work);
  /// Notes for the trace that `work` is ready now, and what the stage has waited for until now.
  void note_ready(const Work& work);
  /// Returns how many bytes travel along `edges` to other stages for each micro-batch.
  std::int64_t bytes_of(const std::vector<std::int32_t>& edges) const;
  void record(const TraceEvent& event);
  /// Records in the trace that weights came to the IPU.
  void record_load(const WeightsBrought& brought);
  /// Notes in the report what was copied to and from the IPU so far.
  void note_moves();
  void send_along(std::int32_t edge, std::int64_t micro_batch, Tensor tensor);
  void send_forward(std::int64_t micro_batch);
  void send_back(std::int64_t micro_batch);
  void send_outputs(std::int64_t micro_batch);

  StageHandle::pointer self = nullptr;
  StageSetup setup;
  StageLinks links;
  std::optional<StageCore> core;
  std::int32_t ipu = 0;
  // This has, for each edge of Plan::edges, the position of the edge among all edges that the stage
  // receives from, or `no_position` for an edge that it does not receive from.
  std::vector<std::size_t> position_of_edge;
  static constexpr std::size_t no_position = static_cast<std::size_t>(-1);
  Borrowing blocks;  // This borrows the blocks that the host store keeps.
  std::optional<PhaseHerald> phases;
  // This is what keeps the stage from its next work, as of the last attempt to start some. It is
  // empty if a tensor is missing.
  std::optional<WaitReason> held_by;
  WaitReason waited_for = WaitReason::input;  // This is what the work that runs had to wait for.
  std::int64_t ready_ns = 0;                  // This is when the work that runs was ready.
  // Since this time, the next work has lacked nothing but blocks of the host store. It is 0 if the
  // work lacks anything else.
  std::int64_t fetching_since_ns = 0;
  std::optional<TurnNear> near;  // This message has come before the weights were ready.
  std::int64_t since_ns = 0;     // This is when the stage last began or ended work or an update.
};

StageHandle::behavior_type stage_actor(StageHandle::stateful_pointer<StageState> self,
                                       StageSetup setup);

}  // namespace penstock::actors
