#pragma once

#include <cstdint>
#include <functional>

#include "graph/plan/program.hpp"

namespace penstock::actors {

/// This is the place of the first gradient sum of a stage.
inline constexpr graph::Location first_sum{.space = graph::Space::accumulators};

/// A CountingRunner runs the parts of a work in reverse order, and counts them.
struct CountingRunner : graph::PartRunner {
  void run(std::int32_t parts, const std::function<void(std::int32_t)>& work) override {
    for (std::int32_t part = parts; part-- > 0; ++count) work(part);
  }
  std::int32_t count = 0;
};

}  // namespace penstock::actors
