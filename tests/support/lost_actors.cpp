#include "tests/support/lost_actors.hpp"

#include <caf/send.hpp>

#include "actors/pipeline/pipeline_cast.hpp"

namespace penstock::testing {

std::vector<std::string> names_of_actors(const actors::PipelineRuntime& runtime) {
  std::vector<std::string> names;
  for (const actors::Child& child : runtime.cast().others) names.push_back(child.name);
  return names;
}

void let_actor_die(const actors::PipelineRuntime& runtime, std::size_t number) {
  caf::anon_send_exit(runtime.cast().others.at(number).actor, caf::exit_reason::unknown);
}

}  // namespace penstock::testing
