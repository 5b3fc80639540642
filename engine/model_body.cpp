#include "engine/model_body.hpp"

#include <algorithm>
#include <new>
#include <string>
#include <tuple>
#include <utility>

#include "engine/call_samples.hpp"
#include "engine/joined_results.hpp"
#include "engine/model/model_access.hpp"
#include "engine/rows.hpp"
#include "engine/sample_axes.hpp"
#include "graph/values/out_of_memory.hpp"
#include "graph/values/stopwatch.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"

namespace penstock {

namespace {

bool keeps_state(const graph::Node& node) {
  return node.op->keeps_state;
}

/// Checks that a model whose layers keep state between calls is not trained, and computes one
/// sample a call, by one plan, on IPUs of one replica.
/// @throws Error unsupported, which names such a layer.
void check_state(const Model& model, const Options& options, bool training) {
  const auto& nodes = ModelAccess::graph(model).nodes;
  const auto keeps = std::ranges::find_if(nodes, keeps_state);
  if (keeps == nodes.end()) return;
  const std::string layer = graph::to_string(*keeps);
  if (training)
    throw Error(Errc::unsupported, layer +
                                       ": it keeps state from call to call, and is for "
                                       "inference only");
  if (!ModelAccess::graph(model).dynamic_axes.empty())
    throw Error(Errc::unsupported, layer +
                                       ": it keeps state from call to call, and so expects inputs "
                                       "of one size, got a dynamic axis");
  const auto& [batch, iterations, replicas] =
      std::tie(options.batch_size, options.device_iterations, options.topology.replication_factor);
  if (batch != 1 || iterations != 1 || replicas != 1)
    throw Error(Errc::unsupported,
                layer +
                    ": it keeps state from call to call, and so expects one sample a call, got "
                    "batch_size " +
                    std::to_string(batch) + ", device_iterations " + std::to_string(iterations) +
                    " and replication_factor " + std::to_string(replicas));
}

/// Checks that each layer of `model` knows which axis counts samples, unless the model keeps state
/// from call to call, and so takes one sample a call.
void check_samples_of(const Model& model) {
  const graph::Graph& graph = ModelAccess::graph(model);
  if (std::ranges::none_of(graph.nodes, keeps_state)) check_sample_axes(graph);
}

/// Checks that the layers of a model take the shortest length that its dynamic axes may have.
void check_lengths(const Model& model, const Options& options) {
  if (!options.static_shapes) expect_shortest_length(ModelAccess::graph(model));
}

/// Returns whether errors of code `code` may come after some updates of a call.
bool may_come_after_updates(Errc code) {
  return code == Errc::cancelled || code == Errc::out_of_memory || code == Errc::stage_failed ||
         code == Errc::internal || code == Errc::stalled;
}

/// Returns which lengths the calls of `model`, which has `options`, may have.
DynamicLength lengths_of(const RunningModel& model, const Options& options) {
  DynamicLength dynamic = model.dynamic_length();
  if (options.static_shapes) dynamic.shortest = dynamic.longest;
  return dynamic;
}

}  // namespace

ModelBody::ModelBody(const Model& model, const Options& options, const Optimizer* optimizer,
                     const Objective& objective)
    : calls_(ModelAccess::calls(model)),
      options_((check_state(model, options, optimizer != nullptr), check_samples_of(model),
                ModelAccess::expect_shares_used(model), check_lengths(model, options), options)),
      running_(model, options, optimizer, objective),
      dynamic_(lengths_of(running_, options_)) {}

StepResult ModelBody::run(std::span<const Tensor> inputs, const std::stop_token& stop) {
  const Stopwatch watch;
  const std::int64_t samples = samples_in(inputs, running_.plan(), dynamic_);
  check_samples(samples);
  const std::int64_t length = length_in(inputs, running_.plan(), dynamic_);
  ModelGauge::Call shown(running_.gauge());
  // What this throws is not of this call, of whose updates it says nothing. An update of an earlier
  // call, which has stalled, may end here.
  if (!stop.stop_requested()) other_plans_.open();
  const std::uint64_t updates_before = running_.updates();
  try {
    expect_not_stopped(stop);
    const std::vector<Section> sections = sections_of(samples, length);
    expect_in_range(inputs, sections.front().plan->plan());
    std::vector<SectionResult> results;
    results.reserve(sections.size());
    for (const Section& section : sections) {
      expect_not_stopped(stop);
      std::vector<Tensor> rows;
      if (sections.size() > 1)
        rows = rows_of(inputs, section.begin, section.begin + section.samples);
      results.push_back({section.samples, section.plan->run(sections.size() > 1 ? rows : inputs,
                                                            section.micro_batches, stop)});
    }
    CallReport report = report_on(sections);
    StepResult result = joined(std::move(results), options_.output, call_size().training);
    report.seconds = watch.seconds();
    shown.count(samples, result.mean_loss);
    last_call_.set(std::move(report));
    return result;
  } catch (...) {
    throw_interrupted(samples, updates_before);
  }
}

std::vector<ModelBody::Section> ModelBody::sections_of(std::int64_t samples, std::int64_t length) {
  const std::int64_t iteration = samples_per_iteration(call_size());
  const std::int64_t iterations = samples / iteration, whole = iterations * iteration;
  std::vector<Section> sections;
  if (whole > 0)
    sections.push_back({&other_plans_.take_whole(length), 0, whole,
                        iterations * running_.gradient_accumulation()});
  for (const MicroBatches& remainder : micro_batches_of_remainder(samples - whole, call_size())) {
    const Section* const before = sections.empty() ? nullptr : &sections.back();
    RunningModel& plan =
        other_plans_.take(samples, remainder, length, before ? before->plan : nullptr);
    const std::int64_t begin = before ? before->begin + before->samples : 0;
    sections.push_back({&plan, begin, remainder.count * remainder.samples, remainder.count});
  }
  for (const Section& section : sections) {
    if (section.plan == &running_ || !section.plan->plan().training) continue;
    section.plan->settle_failure();
    section.plan->take_optimizer_of_host();
  }
  return sections;
}

CallReport ModelBody::report_on(const std::vector<Section>& sections) {
  CallReport report = sections.front().plan->take_last_run();
  std::int64_t before = sections.front().micro_batches;
  for (const Section& section : std::span(sections).subspan(1)) {
    for (Recovery& recovery : section.plan->take_last_run().recoveries) {
      recovery.micro_batch += before;
      report.recoveries.push_back(std::move(recovery));
    }
    before += section.micro_batches;
  }
  return report;
}

void ModelBody::throw_interrupted(std::int64_t samples, std::uint64_t updates_before) const {
  const CallSize& size = call_size();
  try {
    rethrow_to_host(size.training ? "TrainingModel::step" : "InferenceModel::run");
  } catch (const Error& error) {
    if (!may_come_after_updates(error.code())) throw;
    try {
      throw Error(error.code(), interrupted_text(error, samples, updates_before));
    } catch (const std::bad_alloc&) {
      throw error;  // The host learns what has failed, if not how far the call came.
    }
  }
}

std::string ModelBody::interrupted_text(const Error& error, std::int64_t samples,
                                        std::uint64_t updates_before) const {
  const CallSize& size = call_size();
  const bool stopped = error.code() == Errc::cancelled;
  if (!size.training)
    return stopped ? "run: was asked to stop before it had run on all of its " +
                         count_text(samples, "sample") + ", and returns nothing"
                   : error.what();
  const std::int64_t per_update = samples_per_iteration(size);
  // An update in which an IPU has stalled may still end.
  const std::string progress = std::string(" has done ") +
                               (error.code() == Errc::stalled ? "at least " : "") +
                               std::to_string(running_.updates() - updates_before) + " of " +
                               count_text((samples + per_update - 1) / per_update, "update");
  return stopped ? "step: was asked to stop, and" + progress + "; the model goes on from there"
                 : error.what() + ("; the step" + progress);
}

void ModelBody::check_samples(std::int64_t samples) const {
  expect_samples(samples, options_, call_size());
}

CallReport ModelBody::last_call() const {
  calls_->expect_own_process();
  return last_call_.get();
}

}  // namespace penstock
