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
  follow,   ///< Does the first step of rules with norms, for parameters that the replicas divide.
  apply,    ///< Updates the weights by the rules, and makes the gradient sums zero again.
  gather,   ///< Copies the other replicas' shards of the new weights to each replica.
};
inline constexpr std::size_t update_rounds = 5;
/// Returns the round's name in quotes, as error texts have it.
std::string name_of(UpdateRound round);

/// Gate -> optimizers: run this round of the update. Each optimizer sends the order on to its IPU.
struct UpdateOrder {
  UpdateRound round = UpdateRound::apply;
  double clip_factor = 1;  ///< Multiplies the gradients in `follow` and `apply`.
  /// Has the squared norms of the directions along which weights move, by position in
  /// Plan::variables. Only an `apply` after `follow` needs them.
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

/// Holds the norms that one round has measured in one stage of one replica.
struct UpdateNorms {
  /// Has the norms of variables that every replica has whole.
  std::vector<VariableNorm> whole = {};
  /// Has what the replica contributes to the norms of variables that are divided.
  std::vector<ShardNorm> shards = {};
};

}  // namespace penstock::actors
