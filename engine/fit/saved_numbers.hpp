// These pure functions put numbers and parts into a SavedState, and take them out again. Numbers
// keep all their bits, whatever they are.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "penstock/metric.hpp"
#include "penstock/saved_state.hpp"
#include "penstock/tensor.hpp"

namespace penstock {

/// No training counts more than this, so that no sum of what a checkpoint and a training count
/// overflows.
inline constexpr std::int64_t most_counted = std::int64_t{1} << 53;

/// Returns the bits of `number` as a whole number.
std::int64_t bits_of(double number) noexcept;
/// Returns the number that has these bits.
double number_of(std::int64_t bits) noexcept;

/// Returns `numbers` as a tensor, i64 [n].
Tensor tensor_of(std::span<const std::int64_t> numbers);
/// Returns the bits of `numbers` as a tensor, i64 [n].
Tensor tensor_of_bits(std::span<const double> numbers);

/// Returns the numbers of the tensor `name`. @throws Error invalid_data if there is no such tensor,
/// or if it is not i64.
std::span<const std::int64_t> whole_numbers(const SavedState& state, const std::string& name);
/// Returns the numbers of the tensor `name`, of which there are `count`. @throws Error invalid_data
/// as the other function, and if there is another number of them.
std::span<const std::int64_t> whole_numbers(const SavedState& state, const std::string& name,
                                            std::size_t count);

SavedState saved(const Score& score);
/// Returns the score of which saved() has made `state`. @throws Error invalid_data if `state` is
/// something else, or if the score counts less than 0 or more than 2^53.
Score score_in(const SavedState& state);

/// Adds what `part` has to `state`, with `prefix` before each name.
void add_part(SavedState& state, const std::string& prefix, SavedState part);
/// Returns what `state` has under names that begin with `prefix`, without the prefix.
SavedState part_of(const SavedState& state, const std::string& prefix);

}  // namespace penstock
