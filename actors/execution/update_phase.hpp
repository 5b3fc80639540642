// An UpdatePhase is a step of a weight update, which all stages take together. Some of them measure
// norms.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "graph/plan/optimizers/norm.hpp"

namespace penstock::actors {

enum class UpdatePhase : std::uint8_t {
  reduce,   ///< the sums of the replicas' gradients: each replica adds up its share of them
  measure,  ///< the gradients' norms
  follow,   ///< the first step of rules with norms of parameters that the replicas divide
  apply,    ///< scaling, clipping, the rule; then the sums are zero again
  gather,   ///< the other replicas' shards of the new weights
};
inline constexpr std::size_t update_phases = 5;
/// Returns the phase's name in quotes, as errors tell it.
std::string name_of(UpdatePhase phase);

struct VariableNorm {
  std::int32_t variable = 0;  ///< position in Plan::variables
  double squared = 0;
};

/// Holds one replica's part of the norm of a variable that the replicas divide.
struct ShardNorm {
  std::int32_t variable = 0;  ///< position in Plan::variables
  graph::NormPart part = {};
};

/// Holds what one phase has measured in one stage of one replica.
struct UpdateNorms {
  std::vector<VariableNorm> whole = {};  ///< the norms of variables that every replica has whole
  std::vector<ShardNorm> shards = {};    ///< the parts of the norms of those that are divided
};

}  // namespace penstock::actors
