// Isa: the instruction sets that kernels are compiled for, and which of them this process uses.
// Chosen once, at first use, from the CPU and the environment; any thread.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace penstock::graph {

enum class Isa : std::uint8_t { portable, avx2, avx512 };

/// "avx512": as in PENSTOCK_ISA.
std::string_view to_string(Isa isa) noexcept;

/// What this machine and this build have, the widest last.
const std::vector<Isa>& available_isas();

/// The instruction set of that name, or the widest for no name (null).
/// @throws Error invalid_argument if there is none of that name or the machine lacks it; the text
/// names those that it has.
Isa choose_isa(const char* name);

/// What kernels use: choose_isa() of the environment's PENSTOCK_ISA.
Isa isa();

}  // namespace penstock::graph
