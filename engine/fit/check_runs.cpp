#include "engine/fit/check_runs.hpp"

#include "graph/values/text.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

/// Checks the last run of a batch of `samples` samples, unless it is a full run. A batch is cut
/// into full runs and a last one that may be shorter.
void check_last_run(const InferenceModel& model, std::int64_t samples, const std::string& subject) {
  const std::int64_t remainder = samples % model.samples_per_run();
  if (remainder == 0) return;
  try {
    model.check_samples(remainder);
  } catch (const Error& error) {
    if (error.code() != Errc::shape_mismatch) throw;  // The error may be a lack of memory.
    throw Error(Errc::invalid_argument, subject + ": a batch of " + count_text(samples, "sample") +
                                            " ends in a run of " + std::to_string(remainder) +
                                            ": " + error.what());
  }
}

}  // namespace

void check_runs(const InferenceModel& model, const DataLoader& data, const InferenceFields& fields,
                const std::string& subject) {
  fields.check(subject);
  // It is unknown how large the batches of a batch sampler, or of a stream without a size, will be.
  if (data.has_batch_sampler() || data.batches() == 0) return;
  if (data.batches() != 1) check_last_run(model, data.samples_per_batch(), subject);
  check_last_run(model, data.last_batch_samples(), subject);
}

}  // namespace penstock
