// These pure functions write the monitor's answers, which docs/monitoring.md describes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "actors/host/wait_picture.hpp"
#include "engine/monitor/shown_pipeline.hpp"

namespace penstock {

/// Returns the answer to "status": every model of `pipelines` with its IPUs.
std::string status_answer(const std::vector<const ShownPipeline*>& pipelines);

/// ShownWaits are what the actors of one plan wait for.
struct ShownWaits {
  std::uint64_t model = 0;
  std::string name = {};
  bool training = false;
  bool in_call = false;
  actors::WaitPicture::Content content = {};
};

/// Returns the answer to "why": what the actors of each of `pipelines` wait for.
std::string waits_answer(const std::vector<ShownWaits>& pipelines);

/// Returns how long `ipu` has worked for the plan, in nanoseconds.
std::int64_t work_of(const ShownPipeline& pipeline, std::int64_t ipu) noexcept;

}  // namespace penstock
