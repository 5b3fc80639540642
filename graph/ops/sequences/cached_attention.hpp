#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// The op is a causal attention of the newest rows of one growing sequence, which keeps the keys
/// and values of all earlier rows in buffers. The inputs are q [1,S,h*d], k [1,S,g*d], v [1,S,g*e],
/// the position of the first of these rows in the sequence, i64 [1], and the buffers keys [T,g*d],
/// values [T,g*e] and known [1], the number of rows that the first two have. The outputs are
/// y [1,S,h*e] and the new contents of the buffers, which have the rows of k and v from that
/// position on. A position behind the known rows is refused. The attributes are heads, which is h
/// (1 by default), and kv_heads, which is g (h if it is 0, as it is by default), and divides h. The
/// op is for inference only.
extern const Op cached_attention;

}  // namespace penstock::graph
