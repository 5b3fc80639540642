// The whole process must be told this before it opens a file. It is for main() alone: the engine
// leaves the process in which it lives as it is.
#pragma once

namespace trainer {

/// Lets a write that cannot succeed fail from now on, and do no more: neither a reader that has
/// gone nor a limit on file sizes ends the process, and no file takes the place of a standard
/// stream that came closed.
void let_writes_fail();

}  // namespace trainer
