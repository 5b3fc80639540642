// These ops take an axis of one element away, or add one. The elements may be of any type.
#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Returns x without axis number `axis`, which has one element. A negative axis counts from the
/// end.
extern const Op squeeze;

/// Returns x with one axis more, of one element, which is number `axis` of the result. A negative
/// axis counts from the end of the result.
extern const Op unsqueeze;

}  // namespace penstock::graph
