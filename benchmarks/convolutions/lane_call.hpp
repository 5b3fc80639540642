// A LaneCall computes in the batch-lane layout what a call in the layout [N,C,H,W] computes.
#pragma once

#include <vector>

#include "benchmarks/ops/op_call.hpp"
#include "benchmarks/ops/op_cases.hpp"

namespace penstock::benchmarks {

class LaneCall {
 public:
  /// Takes the inputs of `model`, which is a call of `item`, into the layout of `lanes`.
  LaneCall(const OpCase& lanes, const OpCase& item, const OpCall& model);

  void run() const { call_.run(); }
  /// Returns the first output in the layout [N,C,H,W].
  std::vector<float> result() const;

 private:
  OpCall call_;
  std::int64_t images_;
};

}  // namespace penstock::benchmarks
