// compile_request() makes a host's options into what the compiler is asked for. It is pure.
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

}  // namespace penstock
