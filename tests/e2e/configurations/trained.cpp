#include "tests/e2e/configurations/trained.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "tests/support/refusal.hpp"
#include "tests/support/temporary_directory.hpp"

namespace penstock::testing {
namespace {

/// Makes a training model of `model`, which keeps its plan in `directory`. Returns a second
/// training model, which reads the plan there. `directory` has to live as long as the returned
/// model, which keeps later plans there, too.
TrainingModel from_cache(const Model& model, Options options, const Optimizer& optimizer,
                         const TemporaryDirectory& directory) {
  options.runtime.cache_directory = directory.path().string();
  EXPECT_FALSE(TrainingModel(model, options, optimizer).compile_report().from_cache);
  TrainingModel training(model, options, optimizer);
  EXPECT_TRUE(training.compile_report().from_cache);
  return training;
}

/// Returns how many bytes the fullest IPU of a model uses.
std::int64_t fullest_ipu(const std::vector<StageReport>& stages) {
  // These are the bytes that each IPU uses, by the number of the IPU.
  std::map<int, std::int64_t> used;
  for (const StageReport& stage : stages) {
    const auto [ipu, first] = used.emplace(stage.ipu, stage.shared_bytes);
    ipu->second += stage.peak_bytes - stage.shared_bytes;
  }
  return std::ranges::max_element(used, {}, [](const auto& ipu) { return ipu.second; })->second;
}

/// Returns the least memory of an IPU, in bytes, with which `make` can make a model of `options`.
/// That is as much as the fullest IPU uses without a limit or, if `prepares` is true, as it uses
/// where nothing is prepared from weights. The function checks that one byte less is refused,
/// unless the engine chooses the threads of an IPU, because with fewer threads the model may need
/// less.
template <class Make>
std::int64_t least_memory(Options options, bool prepares, const Make& make) {
  std::int64_t& limit = options.topology.ipu_memory_bytes;
  limit = 0;
  std::int64_t least = fullest_ipu(make(options).stage_reports());
  if (options.topology.threads_per_ipu == 0) return least;
  const auto fits_into_less = [&] {
    limit = least - 1;
    return refusal(Errc::out_of_memory,
                   [&] { least = fullest_ipu(make(options).stage_reports()); }) == "accepted";
  };
  if (prepares && fits_into_less()) {
    EXPECT_LE(least, limit);
  }
  EXPECT_FALSE(fits_into_less()) << "in " << limit << " B";
  return least;
}

/// Returns what inference on the same IPUs computes with the newest weights. There are two rounds
/// of micro-batches, and the second one is shorter if the last update was shorter.
StepResult infer(const Experiment& experiment, const Model& model, Options options) {
  options.device_iterations = 2;
  options.output = {.mode = OutputMode::all,
                    .anchors = {{.name = "layer", .tensor = experiment.network->layer}}};
  std::int64_t& limit = options.topology.ipu_memory_bytes;
  if (limit > 0)
    limit = least_memory(options, true,
                         [&](const Options& limited) { return InferenceModel(model, limited); });
  InferenceModel serving(model, options);
  const std::int64_t all = serving.samples_per_run();
  std::vector<Tensor> inputs =
      experiment.network->samples(all - experiment.last_samples % (all / 2));
  inputs.resize(serving.inputs().size());  // Inference takes no labels, which are the last input.
  return serving.run(inputs);
}

/// A Selection is an output mode with its period, and the number of micro-batches of the call.
struct Selection {
  OutputMode mode = OutputMode::all;
  std::size_t period = 1, micro_batches = 1;

  bool takes_the_last() const { return mode == OutputMode::final || mode == OutputMode::automatic; }
  bool takes(std::size_t micro_batch) const {
    if (takes_the_last()) return micro_batch + 1 == micro_batches;
    return (micro_batch + 1) % period == 0;
  }
};

/// Returns what a call with `selection` returns of `all`, which has the values of all micro-batches
/// and replicas of the call.
std::vector<float> select(const Selection& selection, std::span<const float> all) {
  if (selection.mode == OutputMode::all) return {all.begin(), all.end()};
  const std::size_t round = all.size() / selection.micro_batches;
  std::vector<float> result;
  if (selection.mode == OutputMode::sum) result.resize(round);
  for (std::size_t i = 0; i < selection.micro_batches; ++i) {
    const auto values = all.subspan(i * round, round);
    if (selection.mode == OutputMode::sum)
      std::ranges::transform(result, values, result.begin(), std::plus());
    else if (selection.takes(i))
      result.insert(result.end(), values.begin(), values.end());
  }
  return result;
}

Selection selection_of(const std::string& name, const Options& options) {
  Selection selection{.mode = options.output.mode,
                      .period = static_cast<std::size_t>(options.output.period)};
  for (const Anchor& anchor : options.output.anchors)
    if (anchor.name == name && anchor.mode != OutputMode::automatic) {
      selection.mode = anchor.mode;
      selection.period = static_cast<std::size_t>(anchor.period);
    }
  return selection;
}

bool same_bits(std::span<const float> a, std::span<const float> b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

/// Returns whether `calls` returned the right values under `name`. `reference` has one call per
/// update, with the values of all micro-batches.
bool returned_as_expected(const std::string& name, const Calls& calls, const Calls& reference,
                          const Experiment& experiment, const Options& options) {
  std::size_t update = 0;
  for (const std::vector<float>& call : calls) {
    std::vector<float> all;
    const std::size_t end = std::min<std::size_t>(
        updates, update + static_cast<std::size_t>(options.device_iterations));
    Selection selection = selection_of(name, options);
    if (selection.takes_the_last()) update = end - 1;
    for (selection.micro_batches = 0; update < end; ++update) {
      selection.micro_batches += micro_batches_of(experiment, update);
      all.insert(all.end(), reference[update].begin(), reference[update].end());
    }
    if (!same_bits(call, select(selection, all))) return false;
  }
  return update == updates;
}

}  // namespace

Trained train(const Experiment& experiment, const Configuration& configuration) {
  Options options = configuration.options;
  const Model model = build_model(experiment, configuration);
  const Optimizer& optimizer = experiment.optimizer.optimizer;
  if (configuration.limited)
    options.topology.ipu_memory_bytes = least_memory(options, false, [&](const Options& limited) {
      return TrainingModel(model, limited, optimizer);
    });
  const std::int64_t last = experiment.last_samples;
  const TemporaryDirectory cache;
  TrainingModel training = configuration.cached ? from_cache(model, options, optimizer, cache)
                                                : TrainingModel(model, options, optimizer);
  const std::int64_t update = per_update(options);
  const std::int64_t all = updates * update - (last > 0 ? update - last : 0);
  const std::vector<Tensor> samples = experiment.network->samples(all);
  Trained trained;
  const auto note = [&](const std::string& name, const Tensor& tensor) {
    const auto numbers = tensor.as<float>();
    trained.returned[name].emplace_back(numbers.begin(), numbers.end());
  };
  for (std::int64_t done = 0; done < updates; done += options.device_iterations) {
    const std::int64_t end = std::min<std::int64_t>(updates, done + options.device_iterations);
    std::vector<Tensor> inputs;
    for (const Tensor& tensor : samples)
      inputs.push_back(tensor.rows(done * update, std::min(end * update, all)));
    const StepResult result = training.step(inputs);
    note("loss", result.loss);
    for (const auto& [name, tensor] : result.outputs) note(name, tensor);
    for (const auto& [name, tensor] : result.anchors) note(name, tensor);
  }
  for (const ParameterInfo& parameter : model.parameters())
    trained.tensors[parameter.name] = model.weight(parameter.name);
  for (const auto& [name, tensor] : training.optimizer_state())
    trained.tensors["optimizer state " + name] = tensor;
  const StepResult inferred = infer(experiment, model, options);
  trained.tensors["inference's output"] = inferred.output("out");
  trained.tensors["inference's layer"] = inferred.anchor("layer");
  return trained;
}

Configuration reference_configuration(const Experiment& experiment) {
  Configuration reference{.options = experiment.options};
  Options& options = reference.options;
  options.topology.stages = {Stage{"A", "B", "C", "D"}};
  options.topology.threads_per_ipu = 1;
  options.output = {
      .mode = OutputMode::all,
      .anchors = {{.name = "layer", .tensor = experiment.network->layer},
                  {.name = "gradient", .tensor = experiment.network->parameter, .gradient = true}}};
  return reference;
}

std::string difference(const Trained& trained, const Trained& reference,
                       const Experiment& experiment, const Options& options) {
  if (trained.tensors.size() != reference.tensors.size()) return "the number of tensors";
  for (const auto& [name, tensor] : trained.tensors) {
    const Tensor& other = reference.tensors.at(name);
    if (tensor.bytes() != other.bytes() ||
        std::memcmp(tensor.raw(), other.raw(), tensor.bytes()) != 0)
      return name;
  }
  for (const auto& [name, calls] : trained.returned)
    if (!returned_as_expected(name, calls, reference.returned.at(name), experiment, options))
      return "what calls return as " + name;
  return "";
}

}  // namespace penstock::testing
