// Ops that only say something else about the same elements make their copy by this function.
#pragma once

#include <cstring>

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Copies all bytes. There is nothing to do if the memory plan gave both the same memory.
inline void copy(const Operand& from, const Operand& to) {
  if (from.data != to.data && to.type->bytes() > 0)
    std::memcpy(to.data, from.data, static_cast<std::size_t>(to.type->bytes()));
}

}  // namespace penstock::graph
