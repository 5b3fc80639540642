// A module is a shared library beside this program. It is built where the library that it needs is
// installed, so that a program runs without that library, too.
#pragma once

namespace penstock::benchmarks {

/// Loads the module `file`, and returns the address of its function called `function`, or null if
/// there is no such module. The module is never closed, because threads of its library may outlive
/// every call.
void* module_function(const char* file, const char* function);

/// Returns what the function called `function` of the module `file` provides, or null if there is
/// no such module.
template <class Provided>
Provided* provided_by(const char* file, const char* function) {
  const auto provide = reinterpret_cast<Provided* (*)()>(module_function(file, function));
  return provide == nullptr ? nullptr : provide();
}

}  // namespace penstock::benchmarks
