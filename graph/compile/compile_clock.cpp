#include "graph/compile/compile_clock.hpp"

#include <array>
#include <cassert>
#include <string_view>
#include <utility>

namespace penstock::graph {
namespace {

constexpr std::array<std::string_view, 7> all_phases{"shapes",    "layouts", "gradients", "stages",
                                                     "partition", "memory",  "report"};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

void CompileClock::begin(const char* phase) {
  assert(phases_.size() < all_phases.size() && all_phases[phases_.size()] == phase);
  end_phase();
  if (listener_)
    listener_(phase, static_cast<int>(phases_.size()), static_cast<int>(all_phases.size()));
  phases_.push_back({phase, 0});
  begun_ = Clock::now();
}

std::vector<CompilePhase> CompileClock::end() {
  end_phase();
  return std::move(phases_);
}

double CompileClock::seconds() const {
  return seconds_since(made_);
}

void CompileClock::end_phase() {
  if (!phases_.empty()) phases_.back().seconds = seconds_since(begun_);
}

}  // namespace penstock::graph
