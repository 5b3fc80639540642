// The scratch memory that products need, in floats; the same for every instruction set.
#pragma once

#include <cstdint>

namespace penstock::graph {

/// A product of [rows,depth] by [depth,columns].
std::int64_t product_floats(std::int64_t columns, std::int64_t depth) noexcept;

}  // namespace penstock::graph
