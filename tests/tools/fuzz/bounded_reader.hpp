// These functions make readers of other readers, for fuzzing.
#pragma once

#include <cstdint>

#include "tests/tools/fuzz/fuzzed_reader.hpp"

namespace penstock::testing {

/// Returns `reader`, whose `read` takes the path of a file, as one that takes the content of the
/// file.
FuzzedReader of_a_file(FuzzedReader reader);

/// Returns `reader` as one that also has a defect if it asks for more than `fixed_bytes` bytes of
/// memory and `bytes_per_byte` bytes for each byte of its input, where memory that is given back
/// counts, too.
FuzzedReader bounded(FuzzedReader reader, std::uint64_t bytes_per_byte,
                     std::uint64_t fixed_bytes = std::uint64_t{8} << 20);

}  // namespace penstock::testing
