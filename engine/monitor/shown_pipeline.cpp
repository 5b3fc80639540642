#include "engine/monitor/shown_pipeline.hpp"

namespace penstock {

std::vector<ShownIpu> shown_ipus(const actors::PipelineSetup& setup,
                                 const std::map<std::int64_t, std::int64_t>& bytes) {
  std::map<std::int64_t, ShownIpu> by_number;
  for (std::int64_t replica = 0; replica < setup.replicas; ++replica)
    for (std::size_t stage = 0; stage < setup.stages(); ++stage) {
      const std::int64_t number = setup.ipu(replica, stage);
      ShownIpu& ipu = by_number[number];
      ipu.ipu = number;
      ipu.replica = replica;
      ipu.stages.push_back(static_cast<std::int64_t>(stage));
      if (const auto taken = bytes.find(number); taken != bytes.end()) ipu.bytes = taken->second;
    }
  std::vector<ShownIpu> ipus;
  for (auto& [number, ipu] : by_number) ipus.push_back(std::move(ipu));
  return ipus;
}

}  // namespace penstock
