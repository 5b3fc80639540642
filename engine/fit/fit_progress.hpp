// A FitProgress says how far a training by fit() has come. It is plain data. saved() and
// progress_in() convert it to the state that a checkpoint has under fit_state_name, and back.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "penstock/fit.hpp"
#include "penstock/saved_state.hpp"

namespace penstock {

inline constexpr const char* fit_state_name = "fit";

struct FitProgress {
  /// `epoch` is the record of the epoch that goes on. Its values are those of `scores`.
  EpochRecord epoch = {};
  /// `begun` says whether the epoch has begun its data.
  bool begun = false;
  /// `stopped` says whether a callback has ended the training with Next::stop.
  bool stopped = false;
  std::uint64_t updates = 0;  ///< The training has done this many updates.
  SavedState scores = {};     ///< `scores` is what Scores::save() has returned.
  /// `epochs` has the records of the epochs that have ended.
  std::vector<EpochRecord> epochs = {};
};

/// Returns the state of `progress`. `names` are the names of the values in each record.
SavedState saved(const FitProgress& progress, const std::vector<std::string>& names);

/// Returns the progress of which saved() has made `state`. @throws Error invalid_argument, whose
/// text names both, if the values in the records have other names than `names`; invalid_data if
/// `state` is something else.
FitProgress progress_in(const SavedState& state, const std::vector<std::string>& names);

}  // namespace penstock
