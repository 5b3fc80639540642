#include "tests/support/divided_cast.hpp"

#include <algorithm>
#include <utility>

#include "actors/messages/envelope.hpp"
#include "actors/remote/residents.hpp"

namespace penstock::testing {
namespace {

/// A SimulatedFrame has the bytes of an envelope, on their way from one simulated process to
/// another.
struct SimulatedFrame {
  std::string bytes = {};
};
struct JoinLink;

using SimulatedLink = caf::typed_actor<caf::reacts_to<actors::Envelope>,
                                       caf::reacts_to<SimulatedFrame>, caf::reacts_to<JoinLink>>;

/// A JoinLink tells a link where it leads, and who is at its own end.
struct JoinLink {
  SimulatedLink other_end = {};
  actors::Residents residents = {};
};

}  // namespace
}  // namespace penstock::testing

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(penstock::testing::SimulatedFrame)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(penstock::testing::JoinLink)

namespace penstock::testing {
namespace {

struct LinkSetup {
  std::shared_ptr<const actors::PipelineSetup> pipeline = {};
  std::int32_t peer = 0;  ///< The link leads to this process.
  OnTheWay on_the_way = {};
  std::shared_ptr<std::string> refusal = {};
};

struct LinkState {
  LinkSetup setup;
  JoinLink ends;

  void on_frame(SimulatedFrame& frame) {
    if (setup.on_the_way) setup.on_the_way(setup.peer, setup.pipeline->process, frame.bytes);
    try {
      actors::Envelope envelope = actors::decode(frame.bytes);
      actors::expect_from(*setup.pipeline, setup.peer, envelope);
      actors::deliver(ends.residents, std::move(envelope));
    } catch (const Error& error) {
      *setup.refusal = error.what();
    }
  }
};

SimulatedLink::behavior_type simulated_link(SimulatedLink::stateful_pointer<LinkState> self,
                                            LinkSetup setup) {
  self->state.setup = std::move(setup);
  return {[=](const actors::Envelope& envelope) {
            self->send(self->state.ends.other_end, SimulatedFrame{actors::encode(envelope)});
          },
          [=](SimulatedFrame& frame) { self->state.on_frame(frame); },
          [=](JoinLink& ends) { self->state.ends = std::move(ends); }};
}

}  // namespace

DividedCast::DividedCast(const SmallEngineOptions& options,
                         const std::vector<std::int32_t>& process_of_stage, OnTheWay on_the_way)
    : SmallNetwork(options), system_(actors::SystemOptions{.deterministic = true}) {
  const actors::Division division(plan(), process_of_stage);
  const auto count = static_cast<std::size_t>(*std::ranges::max_element(process_of_stage)) + 1;
  processes_.resize(count);
  for (std::size_t process = 0; process < count; ++process) {
    actors::PipelineSetup part = setup();
    part.division = division;
    part.process = static_cast<std::int32_t>(process);
    processes_[process].setup = actors::completed(std::move(part), rules());
    processes_[process].host = std::make_shared<actors::HostCalls>();
  }
  spawn_links(on_the_way);
  for (std::size_t process = 0; process < count; ++process) {
    std::vector<actors::LinkHandle> links;
    for (const caf::actor& link : links_[process])
      links.push_back(caf::actor_cast<actors::LinkHandle>(link));
    Process& here = processes_[process];
    here.cast = actors::spawn_pipeline(system_, here.setup, here.host,
                                       std::make_shared<const actors::UpdateRules>(rules()),
                                       std::move(links));
    actors::write_variables(here.cast.memory, first_variables());
  }
  join_links();
}

DividedCast::~DividedCast() {
  for (const Process& process : processes_) actors::end(process.cast);
  for (const auto& links : links_)
    for (const caf::actor& link : links) actors::tell_to_end(link);
}

void DividedCast::spawn_links(const OnTheWay& on_the_way) {
  for (std::size_t process = 0; process < processes_.size(); ++process) {
    auto& links = links_.emplace_back();
    for (std::size_t peer = 0; peer < processes_.size(); ++peer)
      links.push_back(peer == process
                          ? caf::actor()
                          : caf::actor_cast<caf::actor>(system_.spawn(
                                actors::RunsOn::workers, simulated_link,
                                LinkSetup{processes_[process].setup,
                                          static_cast<std::int32_t>(peer), on_the_way, refusal_})));
  }
}

void DividedCast::join_links() {
  for (std::size_t process = 0; process < processes_.size(); ++process)
    for (std::size_t peer = 0; peer < processes_.size(); ++peer)
      if (peer != process)
        caf::anon_send(caf::actor_cast<SimulatedLink>(links_[process][peer]),
                       JoinLink{caf::actor_cast<SimulatedLink>(links_[peer][process]),
                                processes_[process].cast.residents});
  system_.run_pending();  // No message may reach a link before it is joined.
}

void DividedCast::begin_set_rules(const actors::UpdateRules& rules) {
  host().begin();
  caf::anon_send(cast(0).step,
                 actors::SetRules{std::make_shared<const actors::UpdateRules>(rules)});
  processes_[0].setup->constants->set_loss_scale(actors::constants_of(rules).loss_scale);
}

void DividedCast::begin_windows(std::int64_t windows) {
  host().begin();
  caf::anon_send(cast(0).step,
                 actors::StepCall{inputs(windows), micro_batches_begun_, micro_batches(windows)});
  micro_batches_begun_ += micro_batches(windows);
}

actors::Variables DividedCast::variables(std::size_t replica) const {
  actors::Variables all(plan().variables.size());
  for (const Process& process : processes_) {
    const actors::Variables part = actors::read_variables(plan(), process.cast.memory, replica);
    for (std::size_t i = 0; i < part.size(); ++i)
      if (part[i]) all[i] = part[i];
  }
  return all;
}

}  // namespace penstock::testing
