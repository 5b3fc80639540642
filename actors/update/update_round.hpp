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
  reduce,   ///< This round adds up the gradients of all replicas: each replica adds up a slice.
  measure,  ///< This round measures the norms of the gradients.
  /// This round does the first step of rules with norms, for sharded parameters, and measures the
  /// norms of their weights.
  follow,
  apply,  ///< This round updates the weights by the rules.
  /// This round writes the copies that other stages have of sharded parameters.
  gather,
};
inline constexpr std::size_t update_rounds = 5;
/// Returns the name of `round` in quotes, as error texts have it, or its number if it is none of the
/// rounds.
std::string name_of(UpdateRound round);

/// Gate -> optimizers: run this round of the update. Each optimizer sends the order on to its IPU.
struct UpdateOrder {
  UpdateRound round = UpdateRound::apply;
  double clip_factor = 1;  ///< The gradients are multiplied by this in `follow` and `apply`.
  /// These are the squared norms of the directions along which the weights move, in the order of
  /// Plan::variables. Only an `apply` after `follow` needs them.
  std::vector<double> directions = {};
};

struct VariableNorm {
  std::int32_t variable = 0;  ///< This is the variable's position in Plan::variables.
  double squared = 0;
};

/// A ShardNorm is the contribution of one replica to the norm of a sharded variable.
struct ShardNorm {
  std::int32_t variable = 0;  ///< This is the variable's position in Plan::variables.
  graph::NormPart part = {};
};

/// UpdateNorms are the norms that one round has measured in one stage of one replica.
struct UpdateNorms {
  /// These are the norms of variables that are not sharded.
  std::vector<VariableNorm> whole = {};
  /// These are the replica's contributions to the norms of sharded variables.
  std::vector<ShardNorm> shards = {};
};

}  // namespace penstock::actors
