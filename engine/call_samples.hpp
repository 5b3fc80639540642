// These functions say how many samples a call takes, and in which micro-batches they run. They are
// pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/dynamic_length.hpp"
#include "graph/plan/plan.hpp"
#include "penstock/call_size.hpp"
#include "penstock/options.hpp"
#include "penstock/tensor.hpp"
#include "penstock/training_model.hpp"

namespace penstock {

/// Returns how many rows of dimension 0 each of `inputs` has.
/// @throws Error shape_mismatch, which names the input, what was expected and what came, unless
/// `inputs` have the types that `plan` takes, but for the sizes of the axes that are `dynamic`, and
/// all have the same number of rows.
std::int64_t samples_in(std::span<const Tensor> inputs, const graph::Plan& plan,
                        const DynamicLength& dynamic);

/// Checks the elements of those of `inputs` that have a range in `plan`, and that those of type
/// bool are made of the bytes 0 and 1. @throws Error invalid_data, which names the input, the
/// element and its sample, and says what was expected, for any other element.
void expect_in_range(std::span<const Tensor> inputs, const graph::Plan& plan);

/// Checks that a model with `options`, whose full call has the size `size`, takes a call of
/// `samples` samples. @throws Error shape_mismatch, which says which numbers the model takes, if it
/// does not.
void expect_samples(std::int64_t samples, const Options& options, const CallSize& size);

/// Returns the number of samples in one device iteration of all replicas: those of an update in
/// training, and of a micro-batch of each input group in inference. A model's plan for full calls
/// runs multiples of this number.
std::int64_t samples_per_iteration(const CallSize& size);

/// Returns the micro-batches of one replica in which `remainder` samples run, which are fewer than
/// one device iteration has. In training, the micro-batches have one size, as large as possible,
/// and make one update. In inference, they have the batch size, except for a smaller last one.
std::vector<MicroBatches> micro_batches_of_remainder(std::int64_t remainder, const CallSize& size);

/// Returns the name of the call in texts: "step" or "run".
const char* name_of(const CallSize& size);

}  // namespace penstock
