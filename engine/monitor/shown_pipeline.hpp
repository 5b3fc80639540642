// A ShownPipeline is what the monitor knows of a plan that is on its IPUs: the plan's model, the
// IPUs of the stages, the memory that they take, and the runtime whose actors can be asked what
// they wait for.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "actors/pipeline/pipeline_runtime.hpp"
#include "engine/monitor/model_gauge.hpp"

namespace penstock {

struct ShownIpu {
  std::int64_t ipu = 0;
  std::int64_t replica = 0;
  std::vector<std::int64_t> stages = {};
  std::int64_t bytes = 0;  ///< The plan takes this many bytes of the IPU's memory.
};

struct ShownPipeline {
  std::shared_ptr<ModelGauge> model = {};
  std::vector<ShownIpu> ipus = {};
  /// Each IPU has this many bytes of memory; 0 says that there is no limit.
  std::int64_t ipu_limit = 0;
  const actors::PipelineRuntime* runtime = nullptr;
};

/// Returns the IPUs of a plan whose actors have `setup`. `bytes` has, by the number of an IPU, the
/// bytes of memory that the plan takes there.
std::vector<ShownIpu> shown_ipus(const actors::PipelineSetup& setup,
                                 const std::map<std::int64_t, std::int64_t>& bytes);

}  // namespace penstock
