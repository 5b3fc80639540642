// These functions replace the engine's names of its options in a text by the options of the command
// line that set them, as the table of options says. They are pure.
#pragma once

#include <string>
#include <utility>

#include "apps/trainer/options/options.hpp"
#include "penstock/error.hpp"

namespace trainer {

/// Returns `text` with the name of the option wherever the engine names a field that an option
/// sets: "--ipus: expected 4" for "options.topology.ipus: expected 4".
std::string with_option_names(std::string text);

/// Returns `refusal`, by which the engine refuses the stages, with the names of options in it. If
/// `refusal` names no field of the engine, the option that has set the stages is put in front.
std::string stages_refusal(const PipelineOptions& options, const std::string& refusal);

/// Returns what `action` returns. @throws penstock::Error what `action` throws, with the names of
/// options in its text.
template <class Action>
decltype(auto) with_option_names_in_errors(Action&& action) {
  try {
    return std::forward<Action>(action)();
  } catch (const penstock::Error& error) {
    throw penstock::Error(error.code(), with_option_names(error.what()));
  }
}

}  // namespace trainer
