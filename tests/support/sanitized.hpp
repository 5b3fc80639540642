// These constants say whether a test was built with a sanitizer. Under a sanitizer, everything
// takes several times as long.
#pragma once

namespace penstock::testing {

/// If this is true, AddressSanitizer is in use. Its allocator stays locked in a process that was
/// forked while another thread allocated.
#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool address_sanitized = true;
#else
inline constexpr bool address_sanitized = false;
#endif

/// If this is true, ThreadSanitizer is in use. It starts no thread in a process that was forked
/// from one with several threads.
#if defined(__SANITIZE_THREAD__)
inline constexpr bool thread_sanitized = true;
#else
inline constexpr bool thread_sanitized = false;
#endif

inline constexpr bool sanitized = address_sanitized || thread_sanitized;

}  // namespace penstock::testing
