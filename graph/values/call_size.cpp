#include "penstock/call_size.hpp"

#include "penstock/options.hpp"

namespace penstock {

CallSize size_of_run(const Options& options) {
  return {.training = false,
          .batch_size = options.batch_size,
          .device_iterations = options.device_iterations,
          .replicas = options.topology.replication_factor,
          .input_group_size = options.topology.input_group_size};
}

CallSize size_of_step(const Options& options) {
  CallSize call = size_of_run(options);
  call.training = true;
  call.gradient_accumulation = options.training.gradient_accumulation;
  return call;
}

}  // namespace penstock
