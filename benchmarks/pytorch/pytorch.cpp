#include "benchmarks/pytorch/pytorch.hpp"

#include "benchmarks/modules/module.hpp"

namespace penstock::benchmarks {

Pytorch* pytorch() {
  static Pytorch* const loaded =
      provided_by<Pytorch>("pytorch_module.so", "penstock_benchmarks_pytorch");
  return loaded;
}

}  // namespace penstock::benchmarks
