// These messages of a running model could cross to another process: they hold numbers, text and
// tensors and nothing else, as the compiler checks. The comment on a message begins with sender ->
// receiver, and then says in the sender's words what the message tells the receiver. Handlers
// return no answer; if the receiver sends something back, that is another message.
//
// Whoever receives a tensor may read it until the stage that owns its memory has ended its backward
// turn for the tensor's micro-batch; graph/plan/plan.hpp says more. Some messages say that the
// receiver may now read memory that both sides know from the start: a stage, its IPU and its
// optimizer share an arena, and the replicas of a stage share their gradient sums.
//
// Actors that hand memory to each other by such messages share a process: a stage, its IPU, its
// optimizer and their host store; the replicas of a stage; and stages that have copies of one
// parameter. The host, the feed, the step, the gate and the supervisor share a process, too. The
// messages that may go from process to process are the RemoteMessages of envelope.hpp. An actor
// sends them to the proxy of an actor in another process (actors/remote/proxy.hpp), and the proxy
// gives them to a link, which carries them as bytes. At its other end, the link has them checked
// and delivered (actors/remote/residents.hpp): it takes none before all actors know their
// neighbors, and none that says it is from an actor that the sending process does not have. Whoever
// receives a message that another process may have sent checks, before anything uses it, that it
// may come now, that the plan has what it names, and that tensors and lists are as large as the
// plan says; out_of_turn.hpp says what becomes of a message that is refused. The supervisor refuses
// nothing: it takes as many answers to a question as it has asked actors, and ignores all others.
#pragma once

#include <caf/allowed_unsafe_message_type.hpp>
#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "actors/execution/tensor_list.hpp"
#include "actors/execution/update_rules.hpp"
#include "actors/execution/work.hpp"
#include "actors/host/failure.hpp"
#include "actors/host/wait.hpp"
#include "actors/messages/plain_data.hpp"
#include "actors/update/update_round.hpp"
#include "penstock/report.hpp"
#include "penstock/tensor.hpp"
#include "penstock/trace.hpp"

namespace penstock::actors {

// ---- one message per edge and micro-batch ------------------------------------------------------

/// Feed or stage -> stage: this is the tensor that an edge of the plan carries for a micro-batch.
struct EdgeTensor {
  std::int32_t edge = 0;  ///< This is the position of the edge in Plan::edges.
  std::int64_t micro_batch = 0;
  Tensor tensor = {};  ///< This is empty for an edge of kind `order`.
};

/// Stage -> step: these are the outputs of one micro-batch. Send OutputsTaken when you have read
/// them.
struct StageOutputs {
  std::int32_t replica = 0;
  std::int32_t stage = 0;
  std::int64_t micro_batch = 0;
  TensorList tensors = {};  ///< The tensors are in the order of StagePlan::outputs.
};

/// Step -> stage: I have read the outputs of one micro-batch; you may write to their memory again.
struct OutputsTaken {};

/// First stage -> feed: one micro-batch has left the pipeline; another may enter.
struct Credit {
  std::int32_t replica = 0;
};

// ---- work on an IPU ----------------------------------------------------------------------------

/// IPU -> stage: the program of `work` has run.
struct ProgramDone {
  Work work = {};
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
};

/// IPU -> stage, in phased execution: your weights have come to the IPU for `work`.
struct WeightsBrought {
  Work work = {};
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
};

/// Stage -> the stages of the next phase: I begin a turn, and the next turn is yours. Your turn
/// begins with `work`. What the host store keeps for that work may come to the IPU.
struct TurnNear {
  Work work = {};
};

/// IPU -> optimizer: this round of your update is done.
struct UpdateDone {
  UpdateRound round = UpdateRound::apply;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
};

// ---- weight update, once per window ------------------------------------------------------------

/// Stage -> its optimizer: the gradient sums of the window that ends with `last_micro_batch` are
/// complete. The arena is yours until you send WeightsReady.
struct WindowComplete {
  std::int64_t last_micro_batch = 0;
};

/// Optimizer -> reducer of its stage: the gradient sums of my replica are complete.
struct SumsComplete {
  std::int32_t replica = 0;
};

/// Reducer -> optimizers of its stage: all replicas' gradient sums are complete, and may be read
/// until the update is done. Each of you lets its IPU add up a slice of the sums before it sends
/// GradientsReady or, if only one IPU may be busy at a time, when the gate orders the round
/// `reduce`. In later rounds the totals are there.
struct AllSumsComplete {};

/// Optimizer -> optimizer of the same replica: my stage has copies of your parameters, and the
/// gradient sums of the copies are complete. Until the update is done, you may use these sums and
/// write to the copies.
struct TiedSumsComplete {
  std::int32_t stage = 0;  ///< This is the stage that has the copies.
};

/// Optimizer -> gate: the gradient sums of this stage are complete in all replicas, and everything
/// else that my update needs is there. I send this message once per update.
struct GradientsReady {
  std::int32_t replica = 0;
  std::int32_t stage = 0;
};

/// Optimizer -> gate: the round that you ordered is done.
struct RoundDone {
  UpdateRound round = UpdateRound::apply;
  std::int32_t replica = 0;
  std::int32_t stage = 0;
  UpdateNorms norms = {};  ///< The round `measure` or `follow` has measured these norms.
};

/// Gate -> optimizer: all stages have done the update; your stage may go on.
struct Release {};

/// Optimizer -> its stage: the new weights are in place; the next window may begin.
struct WeightsReady {
  std::vector<TraceEvent> work = {};  ///< This is what the update did on the IPU.
  /// This is what all updates so far have copied to and from the IPU.
  OffloadReport state_moves = {};
  /// This is what all updates so far have exchanged with other replicas.
  CollectiveReport collectives = {};
};

/// Stage -> step: my update is done, and noted on my status board.
struct UpdateApplied {
  std::int32_t replica = 0;
  std::int32_t stage = 0;
};

// ---- the host's calls --------------------------------------------------------------------------

/// Feed -> step: the call was asked to stop. `micro_batches` micro-batches per replica have begun,
/// and no others will begin.
struct CallCut {
  std::int64_t micro_batches = 0;
};

/// Step -> part: use these rules from the next update on. Answer with RulesTaken.
struct NewRules {
  UpdateRules rules = {};
};

/// Part -> step: all optimizers of my process have the new rules.
struct RulesTaken {
  std::int32_t process = 0;
};

// ---- supervision -------------------------------------------------------------------------------

/// Any actor -> supervisor: this failure has happened, and the model cannot go on.
struct Failed {
  Failure failure = {};
};

/// Host -> supervisor: nothing has moved in the call that I wait for; find out why. I send this
/// message again if I do not know the reason a while later.
struct NothingMoves {
  std::uint64_t beats = 0;   ///< PipelinePulse::beats() has returned this number all that time.
  double quiet_seconds = 0;  ///< Nothing has moved for this many seconds.
};

/// Supervisor -> stages, optimizers, gate and feed: say what you wait for. Answer with WaitsFor,
/// unless there is no memory for the answer.
struct ExplainWait {
  /// This is the number of the round of questions. The answer repeats it.
  std::uint64_t round = 0;
};

/// Stage, optimizer, gate or feed -> supervisor: this is my answer to ExplainWait.
struct WaitsFor {
  std::uint64_t round = 0;
  /// This has no text if the sender waits for nothing, or only for what other answers explain.
  Wait wait = {};
};

/// DataMessages lists all messages of this header, and UpdateOrder.
using DataMessages = std::tuple<EdgeTensor, StageOutputs, OutputsTaken, Credit, ProgramDone,
                                WeightsBrought, TurnNear, UpdateDone, WindowComplete, SumsComplete,
                                AllSumsComplete, TiedSumsComplete, GradientsReady, UpdateOrder,
                                RoundDone, Release, WeightsReady, UpdateApplied, CallCut, NewRules,
                                RulesTaken, Failed, NothingMoves, ExplainWait, WaitsFor>;
static_assert(AllPlain<DataMessages>::value,
              "a message that could cross to another process holds numbers, text and tensors only");

/// is_one_of<Message, List<...>> says whether `Message` is one of the types that a `List`, such as
/// a std::tuple, is made of.
template <class Message, class List>
inline constexpr bool is_one_of = false;
template <class Message, template <class...> class List, class... Messages>
inline constexpr bool is_one_of<Message, List<Messages...>> = (std::is_same_v<Message, Messages> ||
                                                               ...);

}  // namespace penstock::actors

/// Lets CAF carry the messages of DataMessages within a process although it cannot serialize them.
/// A message of this header that is not in the list cannot be sent.
template <class Message>
requires(penstock::actors::is_one_of<
         Message, penstock::actors::DataMessages>) struct caf::allowed_unsafe_message_type<Message>
    : std::true_type {
};
