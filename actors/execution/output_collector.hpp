// OutputCollector: turns the outputs of micro-batches into what a call returns. No CAF.
//
// A result's dimension 0 counts the output's selected micro-batches in the order device iteration,
// accumulation step, replica; scalars become [count], or [] if the count is one.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "actors/execution/host_port.hpp"
#include "actors/execution/pipeline_setup.hpp"
#include "engine/values/block_pool.hpp"

namespace penstock::actors {

class OutputCollector {
 public:
  explicit OutputCollector(std::shared_ptr<const PipelineSetup> setup);

  /// For a call of `micro_batches` per replica.
  void begin(std::int64_t micro_batches);
  /// Output `output` of the call's micro-batch `number` (from 0) of `replica`, in any order; of one
  /// replica's sums, in order.
  void add(std::size_t output, std::int64_t replica, std::int64_t number, const Tensor& tensor);
  bool complete() const { return missing_ == 0; }
  /// The results, in the order of Plan::outputs.
  Outputs take();

 private:
  struct Result {
    OutputSelection selection = {};
    std::shared_ptr<std::byte> memory = {};
  };
  bool selects(const OutputSelection& selection, std::int64_t number) const;
  /// Selected micro-batches per replica.
  std::int64_t rounds(const OutputSelection& selection) const;
  std::int64_t position(const OutputSelection& selection, std::int64_t replica,
                        std::int64_t number) const;

  std::shared_ptr<const PipelineSetup> setup_;
  BlockPool pool_;
  std::int64_t micro_batches_ = 0;
  std::int64_t missing_ = 0;
  std::vector<Result> results_;  // by output
};

}  // namespace penstock::actors
