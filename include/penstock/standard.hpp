// This header refuses to be compiled by an older standard than C++20. Every public header that
// needs C++20 includes it, directly or by another header.
#pragma once

#if __cplusplus < 202002L
#error "Penstock needs C++20: compile with -std=c++20 (Meson: cpp_std=c++20, CMake: cxx_std_20)"
#endif
