// What the whole process must be told before it opens a file. For main() alone: the engine leaves
// the process that it lives in as it is.
#pragma once

namespace trainer {

/// From now on a write that cannot succeed fails, and does no more: neither a reader that has gone
/// nor a limit on file sizes ends the process, and no file takes the place of a standard stream
/// that came closed.
void let_writes_fail();

}  // namespace trainer
