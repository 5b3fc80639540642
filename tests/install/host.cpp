// A host application: sees the installed headers and library only, and catches the library's errors.
#include <cstdio>
#include <cstring>
#include <penstock/penstock.hpp>

int main() {
  const penstock::Tensor tensor({2, 3}, {1, 2, 3, 4, 5, 6});
  if (tensor.rows(1, 2).as<float>()[0] != 4) return 1;
  try {
    tensor.reshaped({4});
  } catch (const penstock::Error& error) {
    std::printf("caught: %s\n", error.what());
    return error.code() == penstock::Errc::shape_mismatch ? 0 : 1;
  }
  return 1;
}
