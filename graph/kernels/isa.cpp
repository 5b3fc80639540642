#include "graph/kernels/isa.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>

#include "graph/values/text.hpp"
#include "penstock/error.hpp"

namespace penstock::graph {
namespace {

std::vector<Isa> detect() {
  std::vector<Isa> found{Isa::portable};
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("bmi2");
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512vl");
  if (avx2) found.push_back(Isa::avx2);
  if (avx2 && avx512) found.push_back(Isa::avx512);
#endif
  return found;
}

}  // namespace

std::string_view to_string(Isa isa) noexcept {
  switch (isa) {
    case Isa::avx512:
      return "avx512";
    case Isa::avx2:
      return "avx2";
    case Isa::portable:
      break;
  }
  return "portable";
}

const std::vector<Isa>& available_isas() {
  static const std::vector<Isa> isas = detect();
  return isas;
}

Isa choose_isa(const char* name) {
  const auto& isas = available_isas();
  if (!name) return isas.back();
  const auto found =
      std::find_if(isas.begin(), isas.end(), [&](Isa isa) { return to_string(isa) == name; });
  if (found != isas.end()) return *found;
  throw Error(Errc::invalid_argument, "PENSTOCK_ISA: expected one that this machine has (" +
                                          joined(isas, [](Isa isa) { return to_string(isa); }) +
                                          "), got " + quoted_text(name));
}

Isa isa() {
  static const Isa chosen = choose_isa(std::getenv("PENSTOCK_ISA"));
  return chosen;
}

}  // namespace penstock::graph
