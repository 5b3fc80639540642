// checkpoint_files() is a reader of whole checkpoints, from which a training goes on.
#pragma once

#include "tests/tools/fuzz/fuzzed_reader.hpp"

namespace penstock::testing {

/// Returns a reader of the files of checkpoints, whose checksums are always right, because no
/// mutation would get past them otherwise. A training by fit() goes on from what was read.
FuzzedReader checkpoint_files();

}  // namespace penstock::testing
