// A weight update has rounds: no stage begins a round before every stage has finished the round
// before it. Some rounds measure norms.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "graph/plan/optimizers/norm.hpp"

namespace penstock::actors {

enum class UpdateRound : std::uint8_t {
  reduce,   ///< Adds up the replicas' gradients: each replica adds up a slice of them.
  measure,  ///< Measures the norms of the gradients.
  follow,   ///< Does the first step of rules with norms of parameters that the replicas divide.
  apply,    ///< Scales, clips and applies the rule; then the sums are zero again.
  gather,   ///< Brings the other replicas' shards of the new weights.
};
inline constexpr std::size_t update_rounds = 5;
/// Returns the round's name in quotes, as errors tell it.
std::string name_of(UpdateRound round);

/// Gate -> optimizers: run this round of the update. Each optimizer sends the order on to its IPU.
struct UpdateOrder {
  UpdateRound round = UpdateRound::apply;
  double clip_factor = 1;  ///< Multiplies the gradients in `follow` and `apply`.
  /// An `apply` after `follow` needs the squared norms of the directions, by position in
  /// Plan::variables.
  std::vector<double> directions = {};
};

struct VariableNorm {
  std::int32_t variable = 0;  ///< Is the position in Plan::variables.
  double squared = 0;
};

/// Holds what one replica contributes to the norm of a variable that the replicas divide.
struct ShardNorm {
  std::int32_t variable = 0;  ///< Is the position in Plan::variables.
  graph::NormPart part = {};
};

/// Holds what one round has measured in one stage of one replica.
struct UpdateNorms {
  /// Has the norms of variables that every replica has whole.
  std::vector<VariableNorm> whole = {};
  /// Has what the replica contributes to the norms of variables that are divided.
  std::vector<ShardNorm> shards = {};
};

}  // namespace penstock::actors
