// UpdateRules are the host's optimizer in the form that the actors use: names of rules and numbers.
#pragma once

#include <vector>

#include "graph/plan/optimizers/optimizer_rule.hpp"
#include "penstock/learning_rate_schedule.hpp"

namespace penstock::actors {

/// UpdateRules are replaced as a whole between steps.
struct UpdateRules {
  /// The rules are in the order of Plan::variables.
  std::vector<graph::ParameterRule> variables = {};
  /// This is the norm to which gradients are clipped. 0 means that they are not clipped.
  double max_grad_norm = 0;
  /// If this is true, clipping follows PopTorch; graph/plan/optimizers/norm.hpp says how.
  bool exact_max_grad_norm = false;
  /// The gradients that the programs compute are larger than those of the loss by this factor.
  double loss_scaling = 1;
  LearningRateSchedule schedule = {};  ///< This has the factors of the learning rates.
};

}  // namespace penstock::actors
