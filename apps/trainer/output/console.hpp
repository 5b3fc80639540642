// These functions print what a run tells a person, apart from the progress of the run. Results go
// to stdout, everything else to stderr.
#pragma once

#include <string_view>

namespace trainer {

/// Writes `text` to stdout. @throws penstock::Error io_error if stdout cannot be written.
void print(std::string_view text);
/// Writes "penstock-train: note: ..." to stderr.
void print_note(std::string_view note);
/// Writes "penstock-train: ..." to stderr. The text is one line, even if `what` has several lines.
void print_failure(std::string_view what);

}  // namespace trainer
