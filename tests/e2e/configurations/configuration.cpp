#include "tests/e2e/configurations/configuration.hpp"

#include <algorithm>
#include <set>
#include <sstream>

namespace penstock::testing {
namespace {

Optimizer clipped(Optimizer optimizer, double max_grad_norm) {
  optimizer.max_grad_norm = max_grad_norm;
  return optimizer;
}

Optimizer scheduled(Optimizer optimizer) {
  optimizer.schedule = LearningRateSchedule::cosine(4, 0.1).after_warm_up(2);
  return optimizer;
}

Optimizer scaled(Optimizer optimizer, double loss_scaling) {
  optimizer.loss_scaling = loss_scaling;
  return optimizer;
}

const std::vector<NamedOptimizer>& optimizers() {
  static const std::vector<NamedOptimizer> list{
      {"sgd", Sgd{.learning_rate = 0.1}},
      {"clipped sgd with momentum", clipped(Sgd{.learning_rate = 0.05, .momentum = 0.9}, 0.1)},
      {"scaled sgd with momentum", scaled(Sgd{.learning_rate = 0.05, .momentum = 0.9}, 1000)},
      {"adam", Adam{.learning_rate = 0.01, .weight_decay = 0.1}},
      {"scheduled adamw", scheduled(AdamW{.learning_rate = 0.01})},
      {"rmsprop", RmsProp{.learning_rate = 0.01, .momentum = 0.9, .centered = true}},
      {"clipped lamb", clipped(Lamb{.learning_rate = 0.01}, 0.5)},
  };
  return list;
}

/// Gives `parameter`, in one of three draws, another learning rate than the other parameters have,
/// and another weight decay if the rule has one. In half of these draws, the rule is another one.
void draw_group(Draws& draws, const std::string& parameter, Optimizer& optimizer) {
  if (draws.below(3) != 0) return;
  ParameterGroup group{.parameters = {parameter}, .settings = optimizer.settings};
  if (draws.coin())
    group.settings = draws.one_of<OptimizerSettings>({Sgd{.momentum = 0.9}, AdamW{}, Lamb{}});
  std::visit(
      [](auto& rule) {
        rule.learning_rate *= 0.5;
        if constexpr (requires { rule.weight_decay; }) rule.weight_decay += 0.05;
      },
      group.settings);
  optimizer.groups = {group};
}

/// These are the classes of tensors that may be kept in the host store.
constexpr Offload OffloadOptions::*offload_classes[] = {
    &OffloadOptions::optimizer_state, &OffloadOptions::accumulators, &OffloadOptions::activations,
    &OffloadOptions::weights};

void draw_offload(Draws& draws, OffloadOptions& offload) {
  for (const auto tensors : offload_classes) {
    if (draws.coin()) continue;
    offload.*tensors = {.on = true, .minimum_bytes = draws.one_of<std::int64_t>({0, 8, 64, 500})};
  }
}

void draw_sharding(Draws& draws, ReplicaSharding& sharding) {
  if (draws.coin()) return;
  sharding = {.on = true, .minimum_elements = draws.one_of<std::int64_t>({2, 10, 100})};
}

void draw_schedule(Draws& draws, Topology& topology) {
  topology.strategy = draws.below(4) == 0 ? Strategy::sharded : Strategy::pipelined;
  topology.schedule = draws.one_of(
      {PipelineSchedule::grouped, PipelineSchedule::interleaved, PipelineSchedule::sequential});
}

/// Draws for each of the blocks "B" to "D" whether it begins a stage or belongs to the stage of the
/// block before it.
void cut_between_blocks(Draws& draws, Configuration& configuration) {
  std::vector<Stage>& stages = configuration.options.topology.stages;
  stages = {Stage{"A"}};
  for (const char* block : {"B", "C", "D"}) {
    if (draws.coin()) stages.emplace_back();
    stages.back().blocks.push_back(block);
  }
  configuration.stages = static_cast<int>(stages.size());
}

void cut_between_layers(Draws& draws, const Experiment& experiment, Configuration& configuration) {
  const auto layers = static_cast<int>(
      build_model(experiment, {.marks = configuration.marks}).stage_assignment().size());
  std::vector<int>& stages = configuration.layer_stages;
  stages.assign(static_cast<std::size_t>(layers), 0);
  for (int cuts = 1 + draws.below(5); cuts > 0; --cuts) {
    const int before = draws.below(layers);
    if (before == 0 ||
        stages[static_cast<std::size_t>(before)] != stages[static_cast<std::size_t>(before - 1)])
      continue;
    for (auto i = static_cast<std::size_t>(before); i < stages.size(); ++i) ++stages[i];
  }
  configuration.stages = stages.back() + 1;
}

/// Draws a cut by rule, and the IPUs of the blocks. For the rule `same_as_ipu` the IPUs never
/// decrease from block to block, because that rule asks for it.
void cut_by_rule(Draws& draws, Configuration& configuration) {
  const StageRule rule = configuration.options.topology.stage_rule =
      draws.one_of({StageRule::by_block, StageRule::same_as_ipu, StageRule::auto_increment});
  std::array<int, 4>& ipus = configuration.marks.ipus;
  for (int& ipu : ipus) ipu = draws.below(4);
  configuration.stages = 4;
  if (rule != StageRule::same_as_ipu) return;
  std::ranges::sort(ipus);
  configuration.stages = static_cast<int>(std::set(ipus.begin(), ipus.end()).size());
}

void draw_cut(Draws& draws, const Experiment& experiment, Configuration& configuration) {
  configuration.cut =
      draws.one_of({Cut::between_blocks, Cut::between_layers, Cut::by_the_compiler, Cut::by_rule});
  switch (configuration.cut) {
    case Cut::between_blocks:
      return cut_between_blocks(draws, configuration);
    case Cut::between_layers:
      return cut_between_layers(draws, experiment, configuration);
    case Cut::by_the_compiler:
      configuration.stages = configuration.options.topology.automatic_stages =
          1 + draws.below(experiment.network->automatic_stages);
      return;
    case Cut::by_rule:
      return cut_by_rule(draws, configuration);
  }
}

/// Returns whether the options may place the stages and put them into phases. The options may not
/// do so if the compiler or the blocks say where the stages are.
bool is_placed_freely(const Configuration& configuration) {
  return configuration.cut != Cut::by_the_compiler && configuration.cut != Cut::by_rule;
}

/// Draws an IPU for each stage, so that stages may share an IPU or come back to one. In one of
/// three draws, each stage stays on the IPU of its own number.
void draw_placement(Draws& draws, Configuration& configuration) {
  if (!is_placed_freely(configuration) || draws.below(3) == 0) return;
  for (int i = 0; i < configuration.stages; ++i)
    configuration.options.topology.ipus.push_back(draws.below(configuration.stages));
}

/// Draws a phased strategy, with phases of one or two stages, or with each stage as a phase. The
/// strategy decides on which IPUs the stages run.
void draw_phases(Draws& draws, Configuration& configuration) {
  if (!is_placed_freely(configuration) || draws.below(3) != 0) return;
  Topology& topology = configuration.options.topology;
  topology.strategy = draws.one_of({Strategy::serial_phased, Strategy::parallel_phased});
  topology.ipus.clear();
  PhasedOptions& phased = topology.phased;
  phased.separate_backward_phase = draws.coin();
  phased.batch_serial = draws.coin();
  if (configuration.cut == Cut::between_layers || draws.coin()) return;
  for (Stage& stage : topology.stages) {
    if (phased.phases.empty() || phased.phases.back().stages.size() == 2 || draws.coin())
      phased.phases.emplace_back();
    phased.phases.back().stages.push_back(std::move(stage));
  }
  topology.stages.clear();
}

/// Draws which tensors of phases leave the IPUs, and when.
void draw_residency(Draws& draws, Options& options) {
  if (!is_phased(options.topology.strategy)) return;
  using enum PhaseLiveness;
  PhasedOptions& phased = options.topology.phased;
  phased.liveness =
      options.topology.strategy == Strategy::parallel_phased
          ? draws.one_of({always_live, off_ipu_after_forward})
          : draws.one_of({always_live, off_ipu_after_forward, off_ipu_after_forward_no_overlap,
                          off_ipu_after_each_phase});
  phased.separate_backward_phase &= phased.liveness == always_live;
  const OffloadOptions& offload = options.training.offload;
  phased.on_ipu = {.weights = !offload.weights.on && draws.coin(),
                   .activations = !offload.activations.on && draws.coin(),
                   .accumulators = !offload.accumulators.on && draws.coin(),
                   .optimizer_state = !offload.optimizer_state.on && draws.coin()};
}

void draw_recomputation(Draws& draws, const Configuration& configuration,
                        TrainingOptions& training) {
  training.recompute = draws.coin();
  if (!training.recompute || draws.coin()) return;
  for (int stage = 0; stage < configuration.stages - 1; ++stage)
    if (draws.coin()) training.recompute_stages.push_back(stage);
}

/// Draws an output mode. If the last update is shorter, modes that count or add up micro-batches
/// are left out.
void draw_output(Draws& draws, const Experiment& experiment, OutputMode& mode, int& period) {
  using enum OutputMode;
  mode = experiment.last_samples > 0 ? draws.one_of({automatic, final, all})
                                     : draws.one_of({automatic, final, every_n, all, sum});
  if (mode == every_n) period = 1 + draws.below(experiment.options.training.gradient_accumulation);
}

void draw_outputs(Draws& draws, const Experiment& experiment, OutputOptions& output) {
  draw_output(draws, experiment, output.mode, output.period);
  const SmallNetwork& network = *experiment.network;
  for (Anchor anchor :
       {Anchor{.name = "layer", .tensor = network.layer},
        Anchor{.name = "gradient", .tensor = network.parameter, .gradient = true}}) {
    if (draws.coin()) continue;
    draw_output(draws, experiment, anchor.mode, anchor.period);
    output.anchors.push_back(anchor);
  }
}

void draw_threads(Draws& draws, Options& options) {
  options.runtime.threads = draws.below(4);
  options.topology.threads_per_ipu = draws.below(4);
  options.runtime.trace = draws.below(4) == 0;
}

/// Draws whether the memory of the IPUs is limited. It is never limited if the compiler cuts the
/// model, because the compiler may measure other times and cut elsewhere when it runs again, nor if
/// a shorter last update needs the whole optimizer's state in the one replica that runs it.
bool draw_limit(Draws& draws, const Experiment& experiment, const Configuration& configuration) {
  const bool grows =
      experiment.last_samples > 0 && configuration.options.training.sharding.optimizer_state.on;
  return draws.below(3) == 0 && configuration.cut != Cut::by_the_compiler && !grows;
}

/// In one of three draws, gives the last update fewer samples than the others. Replicas that share
/// their inputs need whole updates.
void draw_last_update(Draws& draws, Experiment& experiment) {
  const std::int64_t whole = per_update(experiment.options);
  if (draws.below(3) != 0 || whole == 1 || experiment.options.topology.input_group_size > 1) return;
  experiment.last_samples = 1 + draws.below(static_cast<int>(whole) - 1);
}

/// In one of three draws, freezes some parameters and, in half of these, statistics of norms.
void draw_frozen(Draws& draws, Experiment& experiment) {
  if (draws.below(3) != 0) return;
  experiment.frozen = static_cast<std::uint32_t>(draws.below(1 << 16));
  if (draws.coin()) experiment.frozen |= std::uint32_t{1} << 31;
}

void freeze(const Experiment& experiment, Model& model) {
  const std::vector<ParameterInfo> parameters = model.parameters();
  for (std::size_t i = 0; i < parameters.size() && i < 31; ++i)
    if ((experiment.frozen >> i & 1) != 0 && !parameters[i].buffer &&
        parameters[i].name != experiment.network->parameter)
      model.freeze(parameters[i].name);
  if (experiment.frozen >> 31 != 0 && std::ranges::any_of(parameters, &ParameterInfo::buffer))
    model.freeze_statistics("*");
}

std::string joined(std::span<const int> numbers) {
  std::string text;
  for (const int number : numbers) text += (text.empty() ? "" : ", ") + std::to_string(number);
  return text;
}

}  // namespace

std::int64_t per_update(const Options& options) {
  return options.samples_per_step() / options.device_iterations;
}

std::size_t micro_batches_of(const Experiment& experiment, std::size_t update) {
  const Options& options = experiment.options;
  const std::int64_t last = experiment.last_samples;
  if (last == 0 || update + 1 < updates)
    return static_cast<std::size_t>(options.training.gradient_accumulation);
  std::int64_t size = std::min<std::int64_t>(options.batch_size, last);
  while (last % size != 0) --size;
  return static_cast<std::size_t>(last / size);
}

Experiment draw_experiment(Draws& draws) {
  if (draws.below(10) == 0) return draw_experiment(draws, large_network(), true);
  const auto networks = small_networks();
  const int chosen = draws.below(static_cast<int>(networks.size()));
  return draw_experiment(draws, networks[static_cast<std::size_t>(chosen)], false);
}

Experiment draw_experiment(Draws& draws, const SmallNetwork& network, bool large) {
  Experiment experiment;
  experiment.network = &network;
  experiment.optimizer =
      optimizers()[static_cast<std::size_t>(draws.below(static_cast<int>(optimizers().size())))];
  draw_group(draws, experiment.network->parameter, experiment.optimizer.optimizer);
  Options& options = experiment.options;
  options.batch_size = large ? draws.one_of({17, 24}) : draws.one_of({1, 2, 3, 5, 17});
  options.seed = static_cast<std::uint64_t>(draws.below(100));
  options.topology.replication_factor = 1 + draws.below(3);
  if (draws.below(4) == 0) options.topology.input_group_size = options.topology.replication_factor;
  options.training.gradient_accumulation = 1 + draws.below(large ? 2 : 5);
  options.training.reduction = draws.below(4) == 0 ? Reduction::sum : Reduction::mean;
  if (options.training.reduction == Reduction::mean && draws.below(3) == 0)
    options.training.reduction_strategy = ReductionStrategy::running;
  draw_last_update(draws, experiment);
  draw_frozen(draws, experiment);
  return experiment;
}

Configuration draw_configuration(Draws& draws, const Experiment& experiment) {
  Configuration configuration{.options = experiment.options};
  Options& options = configuration.options;
  options.device_iterations = 1 + draws.below(updates);
  configuration.marks.checkpoints = static_cast<std::uint32_t>(draws.below(16));
  draw_schedule(draws, options.topology);
  draw_cut(draws, experiment, configuration);
  draw_placement(draws, configuration);
  draw_phases(draws, configuration);
  draw_recomputation(draws, configuration, options.training);
  draw_offload(draws, options.training.offload);
  draw_residency(draws, options);
  draw_sharding(draws, options.training.sharding.optimizer_state);
  draw_outputs(draws, experiment, options.output);
  draw_threads(draws, options);
  configuration.limited = draw_limit(draws, experiment, configuration);
  configuration.cached = draws.below(4) == 0;
  return configuration;
}

Model build_model(const Experiment& experiment, const Configuration& configuration) {
  Model model = experiment.network->build(configuration.marks);
  freeze(experiment, model);
  if (configuration.layer_stages.empty()) return model;
  LayerStages layers = model.stage_assignment();
  for (std::size_t i = 0; i < layers.size(); ++i) layers[i].stage = configuration.layer_stages[i];
  model.set_stage_assignment(layers);
  return model;
}

std::string to_json(const Experiment& experiment, const Configuration& configuration) {
  std::ostringstream text;
  text << "{\n\"network\": \"" << experiment.network->name << "\",\n\"optimizer\": \""
       << experiment.optimizer.name
       << "\",\n\"groups\": " << experiment.optimizer.optimizer.groups.size()
       << ",\n\"frozen\": " << experiment.frozen
       << ",\n\"samples of a shorter last update\": " << experiment.last_samples
       << ",\n\"checkpoints\": " << configuration.marks.checkpoints << ",\n\"IPUs of blocks\": ["
       << joined(configuration.marks.ipus) << "],\n\"cached\": " << std::boolalpha
       << configuration.cached << ",\n\"limited\": " << configuration.limited
       << ",\n\"stages of layers\": [" << joined(configuration.layer_stages)
       << "],\n\"options\": " << configuration.options << "\n}";
  return text.str();
}

}  // namespace penstock::testing
