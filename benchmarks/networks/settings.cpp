#include "benchmarks/networks/settings.hpp"

#include <algorithm>
#include <utility>

namespace penstock::benchmarks {
namespace {

/// Returns a text such as "1 stage x2, b=40 G=5".
std::string describe(const Setting& setting, bool training) {
  const auto& [cut, topology] = std::pair(setting.cut, setting.topology);
  const std::size_t stages = std::max<std::size_t>(1, topology.stages.size());
  std::string text = std::to_string(stages) + " stage" + (stages == 1 ? "" : "s");
  if (topology.replication_factor > 1) text += " x" + std::to_string(topology.replication_factor);
  text += ", b=" + std::to_string(cut.batch);
  return training ? text + " G=" + std::to_string(cut.accumulation) : text;
}

}  // namespace

Setting training(const char* stages, int replicas, const Cut& cut) {
  Setting setting{.name = {}, .cut = cut, .topology = {}};
  if (*stages != '\0') setting.topology.stages = parse_stages(stages);
  setting.topology.replication_factor = replicas;
  setting.name = describe(setting, true);
  return setting;
}

Setting with_two_threads(Setting setting) {
  setting.topology.threads_per_ipu = 2;
  setting.name += ", 2 threads";
  return setting;
}

Setting inference(const char* stages, int replicas, std::int64_t batch, std::int64_t samples) {
  Setting setting = training(stages, replicas, {batch, 1, samples / batch / replicas});
  setting.name = describe(setting, false);
  return setting;
}

}  // namespace penstock::benchmarks
