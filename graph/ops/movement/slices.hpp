// These ops cut a slice out of a tensor along an axis, or lengthen a tensor along an axis. The
// elements may be of any type.
#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Takes the elements of x from `begin` up to but without `end` along `axis`. `begin`, `end` and
/// `axis` are attributes, each of which is 0 by default; a negative axis counts from the end.
extern const Op slice;
/// Puts elements of the number `value` (0 by default) around x along the attribute `axis`: as many
/// as the attribute `before` says before x, and as many as the attribute `after` says behind it.
extern const Op pad;

}  // namespace penstock::graph
