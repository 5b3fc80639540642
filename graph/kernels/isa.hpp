// An Isa is an instruction set that kernels are compiled for. The one that this process uses is
// chosen once, at its first use, from the CPU and the environment. Any thread may ask for it.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace penstock::graph {

enum class Isa : std::uint8_t { portable, avx2, avx512 };

/// Returns the instruction set's name, such as "avx512", to which PENSTOCK_ISA can be set.
std::string_view to_string(Isa isa) noexcept;

/// Returns the instruction sets that this machine and this build have, the widest last.
const std::vector<Isa>& available_isas();

/// Returns the instruction set called `name`, or the widest one if `name` is null.
/// @throws Error invalid_argument if there is none of that name or the machine lacks it; the text
/// names the instruction sets that the machine has.
Isa choose_isa(const char* name);

/// Returns the instruction set that kernels use: choose_isa() of the environment's PENSTOCK_ISA.
/// @throws Error invalid_argument as choose_isa() does.
Isa isa();

}  // namespace penstock::graph
