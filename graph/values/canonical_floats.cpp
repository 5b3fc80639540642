#include "graph/values/canonical_floats.hpp"

namespace penstock {

CanonicalFloats::CanonicalFloats() noexcept {
  std::fegetenv(&before_);
  std::fesetenv(FE_DFL_ENV);
#if defined(__x86_64__)
  // In some C libraries, FE_DFL_ENV does not clear the bits that flush denormals to zero.
  __builtin_ia32_ldmxcsr(0x1f80);
#endif
}

CanonicalFloats::~CanonicalFloats() {
  std::fesetenv(&before_);
}

KeptFloats::KeptFloats() noexcept {
  std::fegetenv(&kept_);
}

KeptFloats::~KeptFloats() {
  std::fesetenv(&kept_);
}

}  // namespace penstock
