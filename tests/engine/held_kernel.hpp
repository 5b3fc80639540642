// A HeldKernel is a kernel of a model that a test holds in one of its runs, so that the call of the
// model that runs the kernel is under way for as long as the test needs.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <stdexcept>
#include <string_view>

#include "engine/model/model_access.hpp"
#include "graph/ir/op.hpp"
#include "penstock/model.hpp"
#include "tests/support/latch.hpp"

namespace penstock::testing {

/// A HeldKernel has to outlive the training and inference models that are made of its model after
/// it.
class HeldKernel {
 public:
  /// Holds the forward kernel of the only node of op `op` in `model`, in run number `run` of the
  /// kernel, counted from 0. A negative number holds no run.
  HeldKernel(const Model& model, std::string_view op, int run) : runs_before_(run) {
    const auto free = std::ranges::find(all_, nullptr);
    if (free == all_.end()) throw std::logic_error("too many kernels are held at a time");
    *free = this;
    // A model has no public function that takes an op of a test.
    auto& graph = const_cast<graph::Graph&>(ModelAccess::graph(model));
    for (graph::Node& node : graph.nodes)
      if (node.op->name == op) {
        op_ = *node.op;
        op_.forward = runs[static_cast<std::size_t>(free - all_.begin())];
        original_ = node.op->forward;
        node.op = &op_;
      }
  }
  ~HeldKernel() { *std::ranges::find(all_, this) = nullptr; }
  HeldKernel(const HeldKernel&) = delete;
  HeldKernel& operator=(const HeldKernel&) = delete;

  /// Waits until the kernel is inside the run that is held. Returns false after a minute.
  bool await() const { return inside_.wait(); }
  /// Lets the run that is held go on.
  void let_go() const { go_on_.open(); }

 private:
  /// Runs the kernel of the object at `place` in `all_`. A kernel is a plain function, which can
  /// find its object only by a number that is compiled into it.
  template <std::size_t place>
  static void run_of(const graph::KernelCall& call) {
    all_[place]->run(call);
  }
  static constexpr void (*runs[])(const graph::KernelCall&) = {run_of<0>, run_of<1>, run_of<2>,
                                                               run_of<3>};
  void run(const graph::KernelCall& call) {
    if (runs_before_-- == 0) {
      inside_.open();
      go_on_.wait();
    }
    original_(call);
  }

  static inline std::array<HeldKernel*, std::size(runs)> all_ = {};

  graph::Op op_;
  void (*original_)(const graph::KernelCall&) = nullptr;
  std::atomic<int> runs_before_;
  Latch inside_, go_on_;
};

}  // namespace penstock::testing
