// compile_request() makes a host's options into what the compiler is asked for, and into whom it
// tells of its progress.
#pragma once

#include <string>
#include <vector>

#include "graph/compile/compile.hpp"
#include "penstock/optimizer.hpp"
#include "penstock/options.hpp"

namespace penstock {

/// Returns what is asked for in training, if there is an optimizer, which updates the parameters
/// called `trainable`; without an optimizer, what is asked for in inference. A model beside another
/// measures nothing and reports no progress: it is compiled within a call that its user waits for.
graph::CompileRequest compile_request(const Options& options, const Optimizer* optimizer,
                                      const std::vector<std::string>& trainable,
                                      bool beside_another);

/// Tells the host's progress function, if it has one, that a model of these options is ready.
/// @throws what that function throws; Error closed in a process that it has forked.
void tell_ready(const Options& options);

}  // namespace penstock
