// fuzzed_envelope() is a reader of the messages that actors of other processes send.
#pragma once

#include "tests/tools/fuzz/fuzzed_reader.hpp"

namespace penstock::testing {

/// Returns a reader of the bytes of envelopes. An envelope that it accepts has to be encoded as the
/// same bytes again.
FuzzedReader fuzzed_envelope();

}  // namespace penstock::testing
