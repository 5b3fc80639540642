#include "actors/execution/flush_denormals.hpp"

namespace penstock::actors {
namespace {

#if defined(__x86_64__)
// The first bit makes denormal results zero, and the second bit makes denormal operands count as
// zero.
constexpr std::uint64_t flush = 0x8000 | 0x0040;

std::uint64_t control() noexcept {
  return __builtin_ia32_stmxcsr();
}

void set_control(std::uint64_t value) noexcept {
  __builtin_ia32_ldmxcsr(static_cast<unsigned>(value));
}
#elif defined(__aarch64__)
constexpr std::uint64_t flush = 1 << 24;

std::uint64_t control() noexcept {
  std::uint64_t value;
  asm volatile("mrs %0, fpcr" : "=r"(value));
  return value;
}

void set_control(std::uint64_t value) noexcept {
  asm volatile("msr fpcr, %0" : : "r"(value));
}
#else
constexpr std::uint64_t flush = 0;

std::uint64_t control() noexcept {
  return 0;
}

void set_control(std::uint64_t) noexcept {}
#endif

}  // namespace

FlushDenormals::FlushDenormals() noexcept : before_(control()) {
  set_control(before_ | flush);
}

FlushDenormals::~FlushDenormals() {
  set_control(before_);
}

}  // namespace penstock::actors
