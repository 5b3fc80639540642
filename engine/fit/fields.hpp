// Loops over a loader's batches need these functions. A FieldMatch and InferenceFields say which
// fields of a batch are inputs, by name or by place. Inference takes a batch that is made for a
// step of training in several runs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/rows.hpp"
#include "penstock/data_loader.hpp"
#include "penstock/error.hpp"

namespace penstock {

/// Returns as many of the batch's first fields as there are `inputs`. If the batch has fewer
/// fields, all of them are returned, and the model's call reports what is missing.
inline std::span<const Tensor> first_fields(const Batch& batch,
                                            const std::vector<std::string>& inputs) {
  return std::span<const Tensor>(batch).first(std::min(batch.size(), inputs.size()));
}

/// Calls `run` with the `samples` rows of `tensors` in their order, at most `most` rows at a time.
void in_runs(const std::vector<Tensor>& tensors, std::int64_t samples, std::int64_t most,
             const auto& run) {
  std::int64_t begin = 0;
  for (; samples - begin > most; begin += most) run(rows_of(tensors, begin, begin + most));
  run(begin == 0 ? tensors : rows_of(tensors, begin, samples));
}

[[noreturn]] inline void refuse_empty(const std::string& subject) {
  throw Error(Errc::invalid_data,
              subject + ": expected at least one batch in an epoch of the data");
}

}  // namespace penstock
