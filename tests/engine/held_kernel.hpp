// HeldKernel: a kernel of a model that a test holds in one of its runs, so that the call that runs
// it is under way for as long as the test needs.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "engine/model/model_access.hpp"
#include "graph/ir/op.hpp"
#include "penstock/model.hpp"
#include "tests/support/latch.hpp"

namespace penstock::testing {

/// It outlives the training and inference models that are made of its model after it.
class HeldKernel {
 public:
  /// Holds the forward kernel of the node of op `op` in `model`, which has one such node, in its
  /// run number `run`, counted from 0. A negative number holds none.
  HeldKernel(const Model& model, std::string_view op, int run) : runs_before_(run) {
    // A model has no function that takes an op of a test's.
    auto& graph = const_cast<graph::Graph&>(ModelAccess::graph(model));
    for (graph::Node& node : graph.nodes)
      if (node.op->name == op) {
        op_ = *node.op;
        op_.forward = run_held;
        original_ = node.op->forward;
        node.op = &op_;
        node.attributes.set(std::string(holder), reinterpret_cast<std::intptr_t>(this));
      }
  }
  HeldKernel(const HeldKernel&) = delete;
  HeldKernel& operator=(const HeldKernel&) = delete;

  /// Waits until the kernel is inside the run that is held. Returns false after a minute.
  bool await() const { return inside_.wait(); }
  /// Lets that run go on.
  void let_go() const { go_on_.open(); }

 private:
  /// The attribute by which a kernel's run finds the object that may hold it.
  static constexpr std::string_view holder = "holder";

  static void run_held(const graph::KernelCall& call) {
    reinterpret_cast<HeldKernel*>(call.attributes.integer(holder))->run(call);
  }
  void run(const graph::KernelCall& call) {
    if (runs_before_-- == 0) {
      inside_.open();
      go_on_.wait();
    }
    original_(call);
  }

  graph::Op op_;
  void (*original_)(const graph::KernelCall&) = nullptr;
  std::atomic<int> runs_before_;
  Latch inside_, go_on_;
};

}  // namespace penstock::testing
