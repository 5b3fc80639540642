// The trace of a profile shows everything that happened in its window, in Chrome's trace-event
// format.
#pragma once

#include "penstock/output_file.hpp"
#include "penstock/profile.hpp"

namespace penstock {

/// Writes the trace: a row for each IPU with what it did and what it waited for, a row with the
/// host's calls, rows for the actors without an IPU, an arrow that follows each micro-batch through
/// the stages, and counters of the micro-batches in flight, of the stash and of the memory in use.
/// No two bars in the row of an IPU overlap.
/// @throws Error io_error
void write_profile_trace(OutputFile& file, const Profile& profile);

}  // namespace penstock
