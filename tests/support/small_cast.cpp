#include "tests/support/small_cast.hpp"

#include <stdexcept>

namespace penstock::testing {
namespace {

std::shared_ptr<const actors::PipelineSetup> with_host(actors::PipelineSetup setup) {
  setup.host = std::make_shared<actors::HostPort>();
  return std::make_shared<const actors::PipelineSetup>(std::move(setup));
}

}  // namespace

SmallCast::SmallCast(const SmallEngineOptions& options)
    : SmallNetwork(options),
      system_({.deterministic = true}),
      setup_(with_host(setup())),
      cast_(actors::spawn_pipeline(system_, setup_,
                                   std::make_shared<const actors::UpdateRules>(rules()))) {
  begin(actors::WriteVariables{std::make_shared<const actors::Variables>(first_variables())});
  system_.run_pending();
  host().wait(0);
}

caf::actor SmallCast::actor(const std::string& name) const {
  for (const actors::Child& child : cast_.others)
    if (child.name == name) return child.actor;
  throw std::logic_error("there is no actor \"" + name + "\"");
}

void SmallCast::begin_windows(std::int64_t windows) {
  begin(actors::StepCall{inputs(windows), micro_batches_begun_, micro_batches(windows)});
  micro_batches_begun_ += micro_batches(windows);
}

actors::Variables SmallCast::variables_after_end() {
  actors::end(cast_);
  system_.run_pending();
  return actors::variables_after_end(plan(), cast_.memory);
}

}  // namespace penstock::testing
