#include "graph/kernels/kernel_table.hpp"

namespace penstock::graph {

namespace portable {
extern const KernelTable isa_table;
}
#if defined(__x86_64__)
namespace avx2 {
extern const KernelTable isa_table;
}
namespace avx512 {
extern const KernelTable isa_table;
}
#endif

const KernelTable& kernel_table([[maybe_unused]] Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::avx512) return avx512::isa_table;
  if (isa == Isa::avx2) return avx2::isa_table;
#endif
  return portable::isa_table;
}

const KernelTable& kernel_table() {
  return kernel_table(isa());
}

}  // namespace penstock::graph
