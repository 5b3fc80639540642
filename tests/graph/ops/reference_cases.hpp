// A table says for each reference file which ops must reproduce it.
//
// To add a file: put NAME.safetensors into tests/data/ops and a row {"NAME", build} into the table
// in reference_cases.cpp. `build` applies ops to tape.in("x"), ... and returns the value that the
// file calls "out". The test compares it, every "out.OTHER" declared with tape.also_computes, and
// the "grad.NAME" of every input.
#pragma once

#include <span>
#include <string_view>

#include "tests/graph/ops/reference_tape.hpp"

namespace penstock::graph {

struct ReferenceCase {
  std::string_view file;  ///< This is the file's name without ".safetensors".
  ValueId (*build)(ReferenceTape& tape);
};

std::span<const ReferenceCase> reference_cases();

}  // namespace penstock::graph
