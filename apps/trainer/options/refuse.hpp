#pragma once

#include <string>

#include "penstock/error.hpp"

namespace trainer {

/// Refuses what the user has asked for. @throws penstock::Error invalid_argument always, with the
/// text `what`.
[[noreturn]] inline void refuse(const std::string& what) {
  throw penstock::Error(penstock::Errc::invalid_argument, what);
}

}  // namespace trainer
