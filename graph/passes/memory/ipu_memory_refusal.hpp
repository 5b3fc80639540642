// IpuMemoryRefusal: the error of a model that needs more memory of an IPU than its limit. A lack of
// the host's memory has the same code, but another plan would not help against that.
#pragma once

#include "penstock/error.hpp"

namespace penstock::graph {

class IpuMemoryRefusal : public Error {
 public:
  explicit IpuMemoryRefusal(const std::string& what) : Error(Errc::out_of_memory, what) {}
};

}  // namespace penstock::graph
