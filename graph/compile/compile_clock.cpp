#include "graph/compile/compile_clock.hpp"

#include <cassert>
#include <string>
#include <utility>

namespace penstock::graph {

void CompileClock::begin(StepPosition step) {
  assert(steps_.size() == step.value());
  end_step();
  const std::string_view name = compile_steps[step.value()];
  if (listener_)
    listener_(name.data(), static_cast<int>(steps_.size()), static_cast<int>(compile_steps.size()));
  steps_.push_back({std::string(name), 0});
  step_ = Stopwatch();
}

std::vector<CompileStep> CompileClock::end() {
  end_step();
  return std::move(steps_);
}

void CompileClock::end_step() {
  if (!steps_.empty()) steps_.back().seconds = step_.seconds();
}

}  // namespace penstock::graph
