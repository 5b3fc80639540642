#include "benchmarks/onednn/onednn.hpp"

#include "benchmarks/modules/module.hpp"

namespace penstock::benchmarks {

Onednn* onednn() {
  static Onednn* const loaded =
      provided_by<Onednn>("onednn_module.so", "penstock_benchmarks_onednn");
  return loaded;
}

}  // namespace penstock::benchmarks
