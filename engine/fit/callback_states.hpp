// These functions save the states of callbacks in a checkpoint, and let callbacks go on from it.
#pragma once

#include <span>

#include "penstock/checkpoint.hpp"
#include "penstock/fit.hpp"

namespace penstock {

/// Checks that the callbacks that have a state have names that differ and can load it.
/// @throws Error invalid_argument if they do not.
void check_states(std::span<const FitCallback> callbacks);
/// Checks that `checkpoint` has a state for each callback that has one. @throws Error
/// invalid_argument if it does not.
void check_states(std::span<const FitCallback> callbacks, const Checkpoint& checkpoint);

/// Adds the states of the callbacks to `checkpoint`. @throws what the callbacks throw.
void save_states(std::span<const FitCallback> callbacks, Checkpoint& checkpoint);
/// Lets the callbacks go on from their states in `checkpoint`. @throws what the callbacks throw.
void load_states(std::span<const FitCallback> callbacks, const Checkpoint& checkpoint);

}  // namespace penstock
