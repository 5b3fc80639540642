// These functions print what a run tells a person, apart from its progress. Results go to stdout,
// everything else to stderr.
#pragma once

#include <string_view>

namespace trainer {

/// Writes `text` to stdout. @throws penstock::Error io_error if that fails.
void print(std::string_view text);
/// Writes "penstock-train: note: ..." to stderr.
void print_note(std::string_view note);
/// Writes "penstock-train: ..." to stderr. It is one line, even if `what` has several.
void print_failure(std::string_view what);

}  // namespace trainer
