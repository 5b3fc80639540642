#include "graph/compile/plan_choice.hpp"

#include "graph/plan/schedules/schedules.hpp"

namespace penstock::graph {

OffloadOptions offload_of(const CompileRequest& request) {
  OffloadOptions classes = request.offload;
  classes.optimizer_state = request.memory.offload_state;
  classes.activations.on &= request.training;
  return classes;
}

PlanChoice first_choice(const CompileRequest& request, const Phases& phases,
                        std::int32_t threads_per_ipu) {
  return {.plan = {.training = request.training,
                   .batch = request.batch,
                   .schedule = request.schedule ? request.schedule : &grouped,
                   .phases = phases,
                   .window = request.training ? request.gradient_accumulation : 0,
                   .threads_per_ipu = threads_per_ipu,
                   .in_place = request.in_place,
                   .offload = offload_of(request)},
          .recompute = request.training ? request.recompute : RecomputeRequest{},
          .prepare = request.prepare && !request.training};
}

}  // namespace penstock::graph
