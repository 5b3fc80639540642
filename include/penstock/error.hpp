// This header has the one exception type that Penstock throws, and the list of causes. Penstock
// throws it on the caller's thread only; the engine's own threads turn errors into messages.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "penstock/standard.hpp"

namespace penstock {

/// An Errc says why Penstock has thrown an error. docs/errors.md says of each cause what to do.
enum class Errc {
  invalid_argument,  ///< A value that a caller passed is outside its documented range.
  invalid_model,     ///< The model's graph breaks a rule: no loss, a name used twice, ...
  invalid_topology,  ///< Blocks, stages, IPUs and replicas do not fit together.
  shape_mismatch,    ///< A tensor's shape or dtype is not what was expected.
  invalid_data,      ///< A sample or label is unusable, or there are too few of them.
  corrupt_file,      ///< A file's content breaks its format.
  io_error,          ///< The operating system refused to read or write.
  stage_failed,      ///< A stage failed while it ran; the text names stage and micro-batch.
  stalled,        ///< Nothing moved for longer than the limit; the text names who waits for what.
  closed,         ///< The object was shut down, or failed earlier and cannot go on.
  busy,           ///< A call is under way, maybe on this thread. Nothing has changed; retry later.
  cancelled,      ///< The caller asked for the call to stop; the text says how far it came.
  out_of_memory,  ///< The machine, or an IPU, has not enough memory.
  unsupported,    ///< What was asked for is legal, but this build does not provide it.
  internal,       ///< Penstock itself has a fault.
};

/// Returns the name of the enumerator, such as "invalid_topology".
std::string_view to_string(Errc code) noexcept;

/// An Error is the only exception that Penstock's functions throw by themselves. Plain values that
/// a host makes or copies may throw std::bad_alloc (docs/embedding.md). The text of an error names
/// what refuses, and says what was expected, what came and, where that helps, what to do, as in
/// `conv2d "conv2": expected 10 input channels, got 12`.
class Error : public std::runtime_error {
 public:
  /// Makes an error whose what() is `what`.
  Error(Errc code, const std::string& what) : std::runtime_error(what), code_(code) {}

  /// Returns the error's cause.
  Errc code() const noexcept { return code_; }

 private:
  Errc code_;
};

}  // namespace penstock
