// main() calls let_writes_fail() before the process opens a file. The function changes settings of
// the whole process, so the engine, which leaves the settings of its process alone, never calls it.
#pragma once

namespace trainer {

/// Makes writes that cannot succeed return an error from now on and have no other effect. A pipe
/// without a reader and a limit on file sizes do not end the process. A standard stream that is
/// closed is opened on /dev/null, so that no other file gets the descriptor of the stream.
void let_writes_fail();

}  // namespace trainer
