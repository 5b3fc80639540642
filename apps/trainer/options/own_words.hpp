// These functions replace the engine's names of its options by those of the command line that set
// them. They are pure.
#pragma once

#include <string>
#include <utility>

#include "apps/trainer/options/options.hpp"
#include "penstock/error.hpp"

namespace trainer {

/// Returns `text` with the name of the option wherever the engine names a field that an option
/// sets.
std::string in_own_words(std::string text);

/// Does the same with an engine's refusal of the stages. If it names no field, it is said which
/// option made the stages so.
std::string in_words_of(const PipelineOptions& options, const std::string& refused_stages);

/// Returns what `action` returns. @throws penstock::Error what it throws, in own words.
template <class Action>
decltype(auto) say_in_own_words(Action&& action) {
  try {
    return std::forward<Action>(action)();
  } catch (const penstock::Error& error) {
    throw penstock::Error(error.code(), in_own_words(error.what()));
  }
}

}  // namespace trainer
