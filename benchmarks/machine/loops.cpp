#include "benchmarks/machine/loops.hpp"

namespace penstock::graph {

namespace portable {
extern const benchmarks::Loops loops;
}
#if defined(__x86_64__)
namespace avx2 {
extern const benchmarks::Loops loops;
}
namespace avx512 {
extern const benchmarks::Loops loops;
}
#endif

}  // namespace penstock::graph

namespace penstock::benchmarks {

const Loops& loops([[maybe_unused]] graph::Isa isa) {
#if defined(__x86_64__)
  if (isa == graph::Isa::avx512) return graph::avx512::loops;
  if (isa == graph::Isa::avx2) return graph::avx2::loops;
#endif
  return graph::portable::loops;
}

}  // namespace penstock::benchmarks
