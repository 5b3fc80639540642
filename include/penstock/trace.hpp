// A trace says what ran where and when, with one event per program run.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace penstock {

class OutputFile;

enum class Direction : std::uint8_t { forward, backward };
std::string_view to_string(Direction direction) noexcept;

/// `load`: the weights come to the IPU, where stages have turns.
enum class Activity : std::uint8_t { forward, backward, update, load };
std::string_view to_string(Activity activity) noexcept;

/// One run of a stage's program, a part of its weight update, or a load for it, on an IPU. Times
/// are nanoseconds of the steady clock.
struct TraceEvent {
  std::int32_t ipu = 0;
  std::int32_t replica = 0;
  std::int32_t stage = 0;
  Activity activity = Activity::forward;
  /// Counted per replica since the model was built; of an update, the last of its window; of a
  /// load, the one that it was first for.
  std::int64_t micro_batch = 0;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
};

/// Writes Chrome trace events (chrome://tracing, Perfetto): a row per IPU. The file's metadata says
/// how many events were `dropped` before these, as `TrainingModel::dropped_events()` counts them.
/// An existing file is replaced, whole or not at all. @throws Error io_error
void write_chrome_trace(const std::string& path, std::span<const TraceEvent> events,
                        std::uint64_t dropped = 0);
/// Writes them into a file that the caller commits.
void write_chrome_trace(OutputFile& file, std::span<const TraceEvent> events,
                        std::uint64_t dropped = 0);

}  // namespace penstock
