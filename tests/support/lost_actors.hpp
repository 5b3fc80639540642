// These functions let actors of a pipeline die, for code that does not use CAF.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "actors/pipeline/pipeline_runtime.hpp"

namespace penstock::testing {

/// Returns the names that texts give the actors of `runtime`, without the supervisor.
std::vector<std::string> names_of_actors(const actors::PipelineRuntime& runtime);
/// Tells actor number `number` of names_of_actors() to end, as if it had crashed. Any thread may
/// call the function.
void let_actor_die(const actors::PipelineRuntime& runtime, std::size_t number);

}  // namespace penstock::testing
