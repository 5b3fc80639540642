// A Failure says why a pipeline cannot go on.
#pragma once

#include <string>

#include "penstock/error.hpp"

namespace penstock::actors {

struct Failure {
  Errc code = Errc::internal;
  std::string text = {};
  bool stops_update = false;  ///< If this is true, an update that is under way will never end.
};

}  // namespace penstock::actors
