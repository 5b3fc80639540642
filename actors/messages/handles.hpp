// These are the handles of a running model's actors. The type of a handle says which messages the
// actor understands.
#pragma once

#include <caf/stateful_actor.hpp>
#include <caf/typed_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include "actors/messages/data_messages.hpp"

namespace penstock::actors {

// These messages are defined in local_messages.hpp, which includes this header for the handles.
struct RunProgram;
struct BringWeights;
struct RunUpdate;
struct SetRules;
struct FetchBlock;
struct StoreBlock;
struct FetchedBlock;
struct StepCall;
struct StageLinks;
struct FeedLinks;
struct OptimizerLinks;
struct ReducerLinks;
struct GateLinks;
struct StepLinks;
struct PartLinks;
struct SupervisorLinks;
struct ShowWaits;
struct Envelope;  // This is defined in envelope.hpp.

using StageHandle = caf::typed_actor<caf::reacts_to<StageLinks>, caf::reacts_to<EdgeTensor>,
                                     caf::reacts_to<OutputsTaken>, caf::reacts_to<ProgramDone>,
                                     caf::reacts_to<TurnNear>, caf::reacts_to<WeightsBrought>,
                                     caf::reacts_to<WeightsReady>, caf::reacts_to<ExplainWait>>;
using DeviceHandle = caf::typed_actor<caf::reacts_to<RunProgram>, caf::reacts_to<BringWeights>,
                                      caf::reacts_to<RunUpdate>>;
using FeedHandle = caf::typed_actor<caf::reacts_to<FeedLinks>, caf::reacts_to<StepCall>,
                                    caf::reacts_to<Credit>, caf::reacts_to<ExplainWait>>;
using OptimizerHandle = caf::typed_actor<
    caf::reacts_to<OptimizerLinks>, caf::reacts_to<WindowComplete>, caf::reacts_to<AllSumsComplete>,
    caf::reacts_to<TiedSumsComplete>, caf::reacts_to<UpdateOrder>, caf::reacts_to<UpdateDone>,
    caf::reacts_to<Release>, caf::reacts_to<SetRules>, caf::reacts_to<ExplainWait>>;
using ReducerHandle = caf::typed_actor<caf::reacts_to<ReducerLinks>, caf::reacts_to<SumsComplete>>;
using GateHandle = caf::typed_actor<caf::reacts_to<GateLinks>, caf::reacts_to<GradientsReady>,
                                    caf::reacts_to<RoundDone>, caf::reacts_to<SetRules>,
                                    caf::reacts_to<ExplainWait>>;
using HostStoreHandle =
    caf::typed_actor<caf::reacts_to<StoreBlock>, caf::replies_to<FetchBlock>::with<FetchedBlock>>;
using StepHandle =
    caf::typed_actor<caf::reacts_to<StepLinks>, caf::reacts_to<StepCall>, caf::reacts_to<CallCut>,
                     caf::reacts_to<StageOutputs>, caf::reacts_to<UpdateApplied>,
                     caf::reacts_to<SetRules>, caf::reacts_to<RulesTaken>>;
using PartHandle = caf::typed_actor<caf::reacts_to<PartLinks>, caf::reacts_to<NewRules>>;
using SupervisorHandle = caf::typed_actor<caf::reacts_to<SupervisorLinks>, caf::reacts_to<Failed>,
                                          caf::reacts_to<NothingMoves>, caf::reacts_to<ShowWaits>,
                                          caf::reacts_to<WaitsFor>>;

/// A link carries messages to the actors of another process.
using LinkHandle = caf::typed_actor<caf::reacts_to<Envelope>>;

}  // namespace penstock::actors
