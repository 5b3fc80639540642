#include "tests/support/malloc_counter.hpp"

#include <cstddef>
#include <cstdlib>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__GLIBC__)
#define PENSTOCK_COUNTS_MALLOC 0
#elif defined(__has_feature)
#define PENSTOCK_COUNTS_MALLOC \
  (!__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer))
#else
#define PENSTOCK_COUNTS_MALLOC 1
#endif

namespace {

// A variable with a constructor, or one that has to be found when it is first used, might call
// malloc() itself.
[[gnu::tls_model("initial-exec")]] thread_local std::uint64_t bytes_asked_for = 0;

}  // namespace

#if PENSTOCK_COUNTS_MALLOC
extern "C" {

// These are the functions of GNU's C library under their other names.
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* block, std::size_t size);

void* malloc(std::size_t size) {
  bytes_asked_for += size;
  return __libc_malloc(size);
}

void* calloc(std::size_t count, std::size_t size) {
  bytes_asked_for += count * size;
  return __libc_calloc(count, size);
}

void* realloc(void* block, std::size_t size) {
  bytes_asked_for += size;
  return __libc_realloc(block, size);
}

}  // extern "C"
#endif

namespace penstock::testing {

bool counts_malloc() noexcept {
  return PENSTOCK_COUNTS_MALLOC;
}

std::uint64_t malloc_bytes() noexcept {
  return bytes_asked_for;
}

}  // namespace penstock::testing
