// These functions write a trace to a file in Chrome's format, which chrome://tracing and Perfetto
// show.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "penstock/trace.hpp"

namespace penstock {

class OutputFile;

/// Writes `events` to a file at `path`, with a row for each IPU. The file's metadata says that
/// `dropped` events came before `events`, as TrainingModel::dropped_events() counts them. A file
/// that exists already is replaced, whole or not at all. @throws Error io_error
void write_chrome_trace(const std::string& path, std::span<const TraceEvent> events,
                        std::uint64_t dropped = 0);
/// Writes `events` to `file`, which the caller commits. @throws Error io_error
void write_chrome_trace(OutputFile& file, std::span<const TraceEvent> events,
                        std::uint64_t dropped = 0);

}  // namespace penstock
