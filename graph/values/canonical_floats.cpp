#include "graph/values/canonical_floats.hpp"

#include <cstdint>

namespace penstock {
#if defined(__x86_64__)
namespace {

/// Returns the flags of floating-point exceptions that operations with long double have raised.
unsigned flags_of_long_double() noexcept {
  std::uint16_t status = 0;
  asm volatile("fnstsw %0" : "=a"(status));
  return status & 0x3fU;
}

}  // namespace
#endif

// To save and to load the whole environment takes a quarter of a microsecond, of which the part for
// long double takes nearly all. A host that adds up scores one by one would wait for that.
CanonicalFloats::CanonicalFloats() noexcept {
#if defined(__x86_64__)
  constexpr unsigned canonical_mxcsr = 0x1f80, canonical_control = 0x37f;
  std::uint16_t control = 0;
  asm volatile("fnstcw %0" : "=m"(control));
  mxcsr_ = __builtin_ia32_stmxcsr();
  keeps_rest_ = control == canonical_control && flags_of_long_double() == 0;
  if (!keeps_rest_) {
    std::fegetenv(&before_);
    std::fesetenv(FE_DFL_ENV);
  }
  // In some C libraries, FE_DFL_ENV does not clear the bits that flush denormals to zero.
  __builtin_ia32_ldmxcsr(canonical_mxcsr);
#else
  std::fegetenv(&before_);
  std::fesetenv(FE_DFL_ENV);
#endif
}

CanonicalFloats::~CanonicalFloats() {
  if (!keeps_rest_) std::fesetenv(&before_);
#if defined(__x86_64__)
  if (keeps_rest_ && flags_of_long_double() != 0) asm volatile("fnclex");
  __builtin_ia32_ldmxcsr(mxcsr_);
#endif
}

KeptFloats::KeptFloats() noexcept {
  std::fegetenv(&kept_);
}

KeptFloats::~KeptFloats() {
  std::fesetenv(&kept_);
}

}  // namespace penstock
