#include "tests/support/malloc_counter.hpp"

#include <cstddef>
#include <cstdlib>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define PENSTOCK_HAS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define PENSTOCK_HAS_SANITIZER 1
#endif
#endif

namespace {

// A variable with a constructor, or one that has to be found when it is first used, might call
// malloc() itself.
[[gnu::tls_model("initial-exec")]] thread_local std::uint64_t bytes_asked_for = 0;

}  // namespace

#if defined(PENSTOCK_HAS_SANITIZER)
// A sanitizer has replaced malloc(), and tells of each block, also of those of realloc().
extern "C" int __sanitizer_install_malloc_and_free_hooks(void (*)(const volatile void*,
                                                                  std::size_t),
                                                         void (*)(const volatile void*));

namespace {

void count_block(const volatile void*, std::size_t size) {
  bytes_asked_for += size;
}

void count_no_block(const volatile void*) {}

[[maybe_unused]] const int installed =
    __sanitizer_install_malloc_and_free_hooks(count_block, count_no_block);

}  // namespace
#elif defined(__GLIBC__)
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

std::uint64_t malloc_bytes() noexcept {
  return bytes_asked_for;
}

}  // namespace penstock::testing
