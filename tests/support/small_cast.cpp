#include "tests/support/small_cast.hpp"

#include <stdexcept>
#include <utility>

namespace penstock::testing {

SmallCast::SmallCast(const SmallEngineOptions& options, const actors::SystemOptions& system,
                     actors::Stillness::Now now)
    : SmallNetwork(options),
      system_(system),
      setup_(actors::completed(setup(), rules())),
      host_(std::make_shared<actors::HostCalls>(now)),
      cast_(actors::spawn_pipeline(system_, setup_, host_,
                                   std::make_shared<const actors::UpdateRules>(rules()))) {
  actors::write_variables(cast_.memory, first_variables());
}

caf::actor SmallCast::actor(const std::string& name) const {
  for (const actors::Child& child : cast_.others)
    if (child.name == name) return child.actor;
  throw std::logic_error("there is no actor \"" + name + "\"");
}

actors::StageLinks SmallCast::stage_links(std::size_t stage) const {
  actors::StageLinks links{
      .device = device(stage),
      .optimizer = actor<actors::OptimizerHandle>("optimizer of " + stage_name(stage)),
      .feed = actor<actors::FeedHandle>("feed"),
      .step = actor<actors::StepHandle>("step"),
      .supervisor = cast_.supervisor};
  for (std::size_t number = 0; number < plan().stages.size(); ++number)
    links.stages.push_back(actor<actors::StageHandle>(stage_name(number)));
  if (options().offload) links.host_store = actor<actors::HostStoreHandle>("host store");
  return links;
}

actors::OptimizerLinks SmallCast::optimizer_links(std::size_t stage, std::int64_t replica) const {
  actors::OptimizerLinks links{.device = device(stage, replica),
                               .stage = actor<actors::StageHandle>(stage_name(stage, replica)),
                               .gate = actor<actors::GateHandle>("gate"),
                               .supervisor = cast_.supervisor};
  for (std::size_t other = 0; other < plan().stages.size(); ++other)
    links.optimizers.push_back(
        actor<actors::OptimizerHandle>("optimizer of " + stage_name(other, replica)));
  if (options().replicas > 1)
    links.reducer = actor<actors::ReducerHandle>("reducer of stage " + std::to_string(stage));
  if (options().offload) links.host_store = actor<actors::HostStoreHandle>("host store");
  return links;
}

void SmallCast::introduce(std::size_t stage, actors::OptimizerLinks links, std::int64_t replica) {
  caf::anon_send(actor<actors::OptimizerHandle>("optimizer of " + stage_name(stage, replica)),
                 std::move(links));
}

actors::Answer SmallCast::finish() {
  system_.run_pending();
  if (system_.deterministic()) return host().wait(0);
  return host().wait(options().stall_seconds, [this](std::uint64_t beats, double seconds) {
    call_watchdog(beats, seconds);
  });
}

void SmallCast::begin_set_rules(const actors::UpdateRules& rules) {
  begin(actors::SetRules{std::make_shared<const actors::UpdateRules>(rules)});
  setup_->constants->set_loss_scale(actors::constants_of(rules).loss_scale);
}

void SmallCast::begin_windows(std::int64_t windows) {
  begin(actors::StepCall{inputs(windows), micro_batches_begun_, micro_batches(windows)});
  micro_batches_begun_ += micro_batches(windows);
}

actors::Variables SmallCast::variables(std::size_t replica) const {
  return actors::read_variables(plan(), cast_.memory, replica);
}

actors::Variables SmallCast::variables_after_end() {
  actors::end(cast_);
  system_.run_pending();
  return variables();
}

}  // namespace penstock::testing
