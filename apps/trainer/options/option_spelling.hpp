// These functions take a text in which the engine names its options, and replace each name by the
// option of the command line that sets it, as the table of options says. The functions are pure.
#pragma once

#include <string>
#include <utility>

#include "apps/trainer/options/options.hpp"
#include "penstock/error.hpp"

namespace trainer {

/// Returns `text` with the name of the option wherever the engine names a field that an option
/// sets: "--ipus: expected 4" for "options.topology.ipus: expected 4".
std::string with_option_names(std::string text);

/// Returns `refusal`, by which the engine refuses the stages, with the names of the trainer's
/// options. If `refusal` names no field of the engine, the option that has set the stages is put in
/// front.
std::string stages_refusal(const PipelineOptions& options, const std::string& refusal);

/// Calls `action` and returns its result. @throws penstock::Error if `action` throws one. The text
/// of the error then has the names of the trainer's options.
template <class Action>
decltype(auto) with_option_names_in_errors(Action&& action) {
  try {
    return std::forward<Action>(action)();
  } catch (const penstock::Error& error) {
    throw penstock::Error(error.code(), with_option_names(error.what()));
  }
}

}  // namespace trainer
