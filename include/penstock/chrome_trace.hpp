// A trace becomes a file in Chrome's format, which chrome://tracing and Perfetto show.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "penstock/trace.hpp"

namespace penstock {

class OutputFile;

/// Writes the `events` into a file at `path`, with a row per IPU. The file's metadata says how many
/// events were `dropped` before these, as `TrainingModel::dropped_events()` counts them. An
/// existing file is replaced, whole or not at all. @throws Error io_error
void write_chrome_trace(const std::string& path, std::span<const TraceEvent> events,
                        std::uint64_t dropped = 0);
/// Writes the same into a `file` that the caller commits.
void write_chrome_trace(OutputFile& file, std::span<const TraceEvent> events,
                        std::uint64_t dropped = 0);

}  // namespace penstock
