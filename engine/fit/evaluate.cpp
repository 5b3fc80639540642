#include <optional>

#include "engine/fit/fields.hpp"
#include "engine/fit/scores.hpp"
#include "engine/fit/stopwatch.hpp"
#include "penstock/fit.hpp"

namespace penstock {

Evaluation evaluate(InferenceModel& model, DataLoader& data, const std::vector<Metric>& metrics,
                    const std::function<void()>& on_batch) {
  Evaluation evaluation;
  Scores scores(metrics);
  check(metrics, model.outline(), "evaluate");
  std::optional<Stopwatch> first_call;
  std::int64_t samples = 0;
  for (const Batch& batch : data) {
    if (!first_call) first_call.emplace();
    in_runs(batch, batch.front().shape()[0], model.samples_per_run(), [&](const Batch& part) {
      const StepResult result = model.run(first_fields(part, model.inputs()));
      samples += part.front().shape()[0];
      evaluation.samples_per_second = first_call->per_second(samples);
      scores.add(result, part);
    });
    if (on_batch) on_batch();
  }
  if (samples == 0) refuse_empty("evaluate");
  evaluation.values = scores.means();
  return evaluation;
}

}  // namespace penstock
