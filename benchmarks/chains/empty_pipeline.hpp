// An EmptyPipeline has stages that compute next to nothing. Almost all of its time goes into
// messages and scheduling, and so shows what the engine itself costs.
#pragma once

#include "penstock/options.hpp"
#include "penstock/tensor.hpp"
#include "penstock/training_model.hpp"

namespace penstock::benchmarks {

class EmptyPipeline {
 public:
  struct Setting {
    int stages = 4;
    int accumulation = 400;  ///< A call has this many micro-batches.
    Strategy strategy = Strategy::pipelined;
    int threads = 0;  ///< There are this many worker threads; 0 stands for one per core.
    int threads_per_ipu = 1;
  };

  explicit EmptyPipeline(const Setting& setting);

  /// Returns the wall-clock time of a call divided by the number of visits in the call, as the
  /// median of `rounds` calls. A visit is one forward or backward of one micro-batch on one stage.
  double visit_microseconds(int rounds);

 private:
  double visits_;
  TrainingModel training_;
  Tensor x_;
};

}  // namespace penstock::benchmarks
