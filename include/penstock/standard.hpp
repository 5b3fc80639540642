// This header refuses compilers that are told an older standard than C++20. It is the first of
// every header that includes no other.
#pragma once

#if __cplusplus < 202002L
#error "Penstock needs C++20: compile with -std=c++20 (Meson: cpp_std=c++20, CMake: cxx_std_20)"
#endif
