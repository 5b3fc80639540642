#include "graph/compile/compile_clock.hpp"

#include <array>
#include <cassert>
#include <string_view>
#include <utility>

namespace penstock::graph {
namespace {

constexpr std::array<std::string_view, 7> all_phases{"shapes",    "layouts", "gradients", "stages",
                                                     "partition", "memory",  "report"};

}  // namespace

void CompileClock::begin(const char* phase) {
  assert(phases_.size() < all_phases.size() && all_phases[phases_.size()] == phase);
  end_phase();
  if (listener_)
    listener_(phase, static_cast<int>(phases_.size()), static_cast<int>(all_phases.size()));
  phases_.push_back({phase, 0});
  phase_ = Stopwatch();
}

std::vector<CompileStep> CompileClock::end() {
  end_phase();
  return std::move(phases_);
}

void CompileClock::end_phase() {
  if (!phases_.empty()) phases_.back().seconds = phase_.seconds();
}

}  // namespace penstock::graph
