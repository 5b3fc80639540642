// This leads from a host's Options to what the compiler is asked for. It is pure.
#pragma once

#include <string>
#include <vector>

#include "graph/compile/compile.hpp"
#include "penstock/optimizer.hpp"
#include "penstock/options.hpp"

namespace penstock {

/// For training, with an optimizer and the names of all that is `trainable`; without one for
/// inference. A model beside another measures nothing and tells nobody of its progress: it is
/// compiled within a call that its user waits for.
graph::CompileRequest compile_request(const Options& options, const Optimizer* optimizer,
                                      const std::vector<std::string>& trainable,
                                      bool beside_another);

}  // namespace penstock
