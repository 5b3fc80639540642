// A Work is a program that a stage lets its IPU run for one micro-batch.
#pragma once

#include <cstdint>

#include "penstock/trace.hpp"

namespace penstock::actors {

struct Work {
  Direction direction = Direction::forward;
  std::int64_t micro_batch = 0;
  bool operator==(const Work&) const = default;
};

}  // namespace penstock::actors
