#include "engine/fit/evaluate.hpp"

#include <optional>

#include "engine/fit/check_runs.hpp"
#include "engine/fit/fields.hpp"
#include "engine/fit/scores.hpp"
#include "engine/model/model_access.hpp"
#include "graph/values/out_of_memory.hpp"
#include "graph/values/stopwatch.hpp"
#include "penstock/error.hpp"

namespace penstock {

namespace {

[[noreturn]] void refuse_stopped() {
  throw Error(Errc::cancelled,
              "evaluate: was asked to stop before it had asked all metrics, and returns nothing");
}

}  // namespace

Evaluation evaluate_once(InferenceModel& model, DataLoader& data, InferenceFields& fields,
                         std::span<const Metric> metrics, LoaderNote& note,
                         const std::function<void()>& on_batch, const std::stop_token& stop) {
  Evaluation evaluation;
  Scores scores(metrics);
  std::optional<Stopwatch> first_call;
  note.tell(data);
  data.start_epoch();
  while (const std::optional<Batch> batch = data.next(stop)) {
    if (!first_call) first_call.emplace();
    in_runs(*batch, batch->front().shape()[0], model.samples_per_run(), [&](const Batch& part) {
      const StepResult result = model.run(fields.of(part), stop);
      evaluation.samples += part.front().shape()[0];
      evaluation.samples_per_second = first_call->per_second(evaluation.samples);
      if (!scores.add(result, part, stop)) refuse_stopped();
    });
    if (on_batch) call_host(on_batch);
  }
  if (evaluation.samples == 0) refuse_empty("evaluate");
  note.tell(data);
  std::optional<std::vector<NamedValue>> values = scores.values(stop);
  if (!values) refuse_stopped();
  evaluation.values = *std::move(values);
  evaluation.left_out = data.dropped_samples();
  return evaluation;
}

Evaluation evaluate(InferenceModel& model, DataLoader& data, const std::vector<Metric>& metrics,
                    const std::function<void()>& on_batch, std::stop_token stop) {
  return or_out_of_memory("evaluate", [&] {
    const auto calls = ModelAccess::calls(model);
    const ModelCall call(*calls, "evaluate");
    InferenceModel kept = ModelAccess::handle(model);  // The host's functions may destroy `model`.
    check(metrics);
    check(metrics, kept.outline(), "evaluate", stop);
    InferenceFields fields(kept, data.fields());
    check_runs(kept, data, fields, "evaluate: data");
    LoaderNote note(kept);
    return evaluate_once(kept, data, fields, metrics, note, on_batch, stop);
  });
}

}  // namespace penstock
