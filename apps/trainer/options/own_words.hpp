// The engine's names for its options, and those of the command line that set them. Pure.
#pragma once

#include <string>
#include <utility>

#include "apps/trainer/options/options.hpp"
#include "penstock/error.hpp"

namespace trainer {

/// `text` with the option's name wherever the engine names a field that an option sets.
std::string in_own_words(std::string text);

/// The same of an engine's refusal of the stages; of one that names no field it is said which
/// option made them so.
std::string in_words_of(const PipelineOptions& options, const std::string& refused_stages);

/// What `action` returns. @throws penstock::Error what it throws, in own words.
template <class Action>
decltype(auto) say_in_own_words(Action&& action) {
  try {
    return std::forward<Action>(action)();
  } catch (const penstock::Error& error) {
    throw penstock::Error(error.code(), in_own_words(error.what()));
  }
}

}  // namespace trainer
