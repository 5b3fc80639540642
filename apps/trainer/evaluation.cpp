#include "apps/trainer/evaluation.hpp"

#include "apps/trainer/accuracy.hpp"
#include "apps/trainer/stopwatch.hpp"

namespace trainer {

Evaluation evaluate(penstock::DataLoader& loader, const std::string& scores, const Inference& infer,
                    const std::function<void()>& on_batch) {
  std::optional<Stopwatch> first_call;
  Evaluation evaluation;
  std::int64_t correct = 0, samples = 0;
  for (const penstock::Batch& batch : loader) {
    if (!first_call) first_call.emplace();
    const penstock::StepResult result = infer(batch.front());
    samples += batch.back().elements();
    evaluation.samples_per_second = first_call->per_second(samples);
    correct += count_correct(result.output(scores), batch.back());
    on_batch();
  }
  evaluation.accuracy = static_cast<double>(correct) / static_cast<double>(samples);
  return evaluation;
}

}  // namespace trainer
