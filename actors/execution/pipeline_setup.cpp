#include "actors/execution/pipeline_setup.hpp"

#include <string>

namespace penstock::actors {

std::string stage_name(const PipelineSetup& setup, std::int64_t replica, std::size_t stage) {
  return "stage " + std::to_string(stage) + " (replica " + std::to_string(replica) + ", IPU " +
         std::to_string(setup.ipu(replica, stage)) + ")";
}

}  // namespace penstock::actors
