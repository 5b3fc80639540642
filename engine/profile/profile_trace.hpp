// The trace of a profile shows everything that happened in its window, in Chrome's trace-event
// format.
#pragma once

#include <cstddef>

#include "penstock/output_file.hpp"
#include "penstock/profile.hpp"

namespace penstock {

/// Writes the trace: a row for each IPU with what it did and what it waited for, a row with the
/// host's calls, rows for the actors without an IPU, an arrow that follows each micro-batch through
/// the stages, and counters of the micro-batches in flight, of the stash and of the memory in use.
/// No two bars in the row of an IPU overlap. Only the newest `most_events` of the profile's events,
/// and what happened meanwhile, are in the trace, because viewers are slow with files of more than
/// about 100 MB.
/// @throws Error io_error
void write_profile_trace(OutputFile& file, const Profile& profile,
                         std::size_t most_events = 100'000);

}  // namespace penstock
