// compile_request() makes the request to the compiler from a host's options. The request also says
// to whom the compiler reports its progress.
#pragma once

#include <string>
#include <vector>

#include "graph/compile/compile.hpp"
#include "penstock/optimizer.hpp"
#include "penstock/options.hpp"

namespace penstock {

/// Returns the request for training with `optimizer`, which updates the parameters called
/// `trainable`, or for inference if `optimizer` is null. For a plan that is `beside_another` of its
/// model, the compiler measures nothing and reports no progress, because the plan is compiled
/// within a call for which the host waits.
graph::CompileRequest compile_request(const Options& options, const Optimizer* optimizer,
                                      const std::vector<std::string>& trainable,
                                      bool beside_another);

/// Tells the host's progress function, if `options` have one, that the model is ready.
/// @throws what that function throws; Error closed in a process that the function has forked.
void tell_ready(const Options& options);

}  // namespace penstock
