// These tests check that the drawn configurations together have every setting, each with an effect.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "engine/compile_request.hpp"
#include "engine/model/model_access.hpp"
#include "tests/e2e/configurations/configuration.hpp"

namespace penstock::testing {
namespace {

bool shares_an_ipu(const Configuration& configuration) {
  const std::vector<int>& ipus = configuration.options.topology.ipus;
  return std::set(ipus.begin(), ipus.end()).size() < ipus.size();
}

bool revisits_an_ipu(const Configuration& configuration) {
  std::vector<int> ipus = configuration.options.topology.ipus;
  ipus.erase(std::unique(ipus.begin(), ipus.end()), ipus.end());
  return std::set(ipus.begin(), ipus.end()).size() < ipus.size();
}

/// Inserts words that say which classes of tensors are off the IPUs, and whether that is in phases.
void note_offload(const Options& options, std::set<std::string>& words) {
  const OffloadOptions offload = offload_of(options);
  const Topology& topology = options.topology;
  const std::pair<std::string, Offload> classes[] = {{"state", offload.optimizer_state},
                                                     {"sums", offload.accumulators},
                                                     {"activations", offload.activations},
                                                     {"weights", offload.weights}};
  for (const auto& [name, of] : classes) {
    const auto& [on, minimum] = of;
    if (!on && is_phased(topology.strategy)) words.insert(name + " on the IPUs of phases");
    if (!on) continue;
    words.insert(name + " offloaded");
    words.insert("a minimum of " + std::to_string(minimum) + " bytes");
    if (is_phased(topology.strategy)) words.insert(name + " offloaded, phases");
    if (topology.phased.batch_serial) words.insert(name + " offloaded, batch-serial");
  }
}

/// Inserts words that say with which other settings a shorter last update comes.
void note_last_update(const Experiment& experiment, const Configuration& configuration,
                      std::set<std::string>& words) {
  if (experiment.last_samples == 0) return;
  const Options& options = configuration.options;
  const std::pair<const char*, bool> others[] = {
      {"", true},
      {" of several micro-batches", micro_batches_of(experiment, updates - 1) > 1},
      {" in a call of its own", (updates - 1) % options.device_iterations == 0},
      {" after others in its call", (updates - 1) % options.device_iterations != 0},
      {", replicas", options.topology.replication_factor > 1},
      {", phases", is_phased(options.topology.strategy)},
      {", memory limit", configuration.limited}};
  for (const auto& [text, holds] : others)
    if (holds) words.insert(std::string("shorter last update") + text);
}

graph::Plan plan_of(const Experiment& experiment, const Configuration& configuration) {
  const Model model = build_model(experiment, configuration);
  std::vector<std::string> names;
  for (const ParameterInfo& parameter : model.parameters())
    if (parameter.trainable) names.push_back(parameter.name);
  return graph::compile(
             ModelAccess::graph(model),
             compile_request(configuration.options, &experiment.optimizer.optimizer, names, true))
      .plan;
}

bool shares_kernels(const graph::Plan& plan) {
  return std::ranges::any_of(plan.stages, [](const graph::StagePlan& stage) {
    const auto shared = [](const graph::Instruction& i) { return i.sharing.parts > 1; };
    return std::ranges::any_of(stage.forward.instructions, shared) &&
           std::ranges::any_of(stage.backward.instructions, shared);
  });
}

/// Inserts words for the settings that only the large network can test: kernels that threads share,
/// and all work on tensors piece by piece. A piece has 32,768 elements at most.
void note_large(const Experiment& experiment, const Configuration& configuration,
                std::set<std::string>& words) {
  if (experiment.network != &large_network()) return;
  const graph::Plan plan = plan_of(experiment, configuration);
  if (std::ranges::none_of(plan.variables, [](const graph::VariableInfo& variable) {
        return variable.type.shape.elements() > 2 * 16'384;
      }))
    return;
  const Options& options = configuration.options;
  const OffloadOptions offload = offload_of(options);
  const bool replicas = options.topology.replication_factor > 1;
  const std::pair<const char*, bool> others[] = {
      {"kernels shared by threads", shares_kernels(plan)},
      {"pieces of state", offload.optimizer_state.on},
      {"pieces of sums", offload.accumulators.on},
      {"pieces of weights", offload.weights.on},
      {"pieces of what replicas add", replicas},
      {"pieces of shards", replicas && options.training.sharding.optimizer_state.on},
      {"pieces, phases", is_phased(options.topology.strategy)}};
  for (const auto& [text, holds] : others)
    if (holds) words.insert(text);
}

/// Returns the settings of a configuration as words.
std::set<std::string> settings(const Experiment& experiment, const Configuration& configuration) {
  const Options& options = configuration.options;
  const TrainingOptions& training = options.training;
  std::set<std::string> words{experiment.network->name,
                              experiment.optimizer.name,
                              std::string(to_string(options.topology.strategy)),
                              std::string(to_string(options.topology.schedule)),
                              std::string(to_string(options.output.mode)),
                              std::to_string(configuration.stages) + " stages",
                              std::to_string(static_cast<int>(configuration.cut)) + " cuts"};
  const auto note = [&](const std::string& word, bool holds) {
    if (holds) words.insert(word);
  };
  note("rule " + std::string(to_string(options.topology.stage_rule)),
       configuration.cut == Cut::by_rule);
  note("shared IPU", shares_an_ipu(configuration));
  note("revisited IPU", revisits_an_ipu(configuration));
  note("recomputed", training.recompute && training.recompute_stages.empty());
  note("some stages recomputed", !training.recompute_stages.empty());
  note("checkpoints", training.recompute && configuration.marks.checkpoints != 0);
  note_offload(options, words);
  note("both offloaded", training.offload.optimizer_state.on && training.offload.accumulators.on);
  note("state divided",
       training.sharding.optimizer_state.on && options.topology.replication_factor > 1);
  note("state divided, groups", training.sharding.optimizer_state.on &&
                                    options.topology.replication_factor > 1 &&
                                    !experiment.optimizer.optimizer.groups.empty());
  note("running", training.reduction_strategy == ReductionStrategy::running);
  note("sum of gradients", training.reduction == Reduction::sum);
  note("replicas", options.topology.replication_factor > 1);
  note("input groups", options.topology.input_group_size > 1);
  note("memory limit", configuration.limited);
  note("plan from the cache", configuration.cached);
  note("several updates a call", options.device_iterations > 1);
  note("anchors", options.output.anchors.size() == 2);
  note("phases of several stages", std::ranges::any_of(options.topology.phased.phases, [](auto& p) {
         return p.stages.size() > 1;
       }));
  note("batch-serial", options.topology.phased.batch_serial);
  if (is_phased(options.topology.strategy))
    words.emplace(to_string(options.topology.phased.liveness));
  note("separate backward", options.topology.phased.separate_backward_phase);
  note("threads per IPU", options.topology.threads_per_ipu > 1);
  note("worker threads", options.runtime.threads > 1);
  note("trace", options.runtime.trace);
  note("frozen parameters", (experiment.frozen & 0xffff) != 0);
  note("frozen statistics", experiment.frozen >> 31 != 0);
  note_last_update(experiment, configuration, words);
  note_large(experiment, configuration, words);
  return words;
}

// If a change of the draws leaves a setting out, this test notices it.
TEST(DrawnConfigurations, HaveEverySetting) {
  std::map<std::string, int> counts;
  for (int seed = 0; seed < experiments; ++seed) {
    Draws draws(static_cast<std::uint32_t>(seed));
    const Experiment experiment = draw_experiment(draws);
    for (int i = 0; i < configurations_each; ++i)
      for (const std::string& word : settings(experiment, draw_configuration(draws, experiment)))
        ++counts[word];
  }
  EXPECT_EQ(counts.size(), 6u + 7u + 4u + 3u + 5u + 6u + 4u + 3u + 12u + 28u + 7u + 7u + 6u + 2u)
      << ::testing::PrintToString(counts);
  for (const auto& [word, count] : counts) EXPECT_GE(count, 5) << word;
}

}  // namespace
}  // namespace penstock::testing
