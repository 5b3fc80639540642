// This program prints the instruction sets that this machine has, one per line.
#include <cstdio>
#include <string>

#include "graph/kernels/isa.hpp"

int main() {
  for (const auto isa : penstock::graph::available_isas())
    std::puts(std::string(to_string(isa)).c_str());
}
