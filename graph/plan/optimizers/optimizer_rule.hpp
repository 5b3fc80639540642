// An OptimizerRule says how weights follow their gradients, as plain data. Each optimizer has one
// source in this folder, and its settings are in OptimizerSettings. Rules are pure: a rule has no
// state of its own and may run on any thread. It works in f32, on each element by itself or with
// norms of its own parameter (LAMB), so that a parameter's bits depend on nothing but that
// parameter.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "graph/kernels/updates/updates.hpp"
#include "graph/plan/optimizers/constants.hpp"
#include "graph/plan/optimizers/norm.hpp"
#include "penstock/optimizer_settings.hpp"

namespace penstock::graph {

/// No rule keeps more tensors of a parameter than these.
inline constexpr std::size_t most_state_tensors = 4;

/// Points to a field of a rule's settings.
using SettingsField = std::variant<double*, bool*, std::optional<double>*>;

/// Is a constant that a rule has.
struct RuleConstant {
  const Constant* constant;
  /// Returns the field that keeps the constant in settings of this rule.
  SettingsField (*field)(OptimizerSettings&);
};

/// Is a tensor of the parameter's size that a rule keeps from update to update.
struct StateTensor {
  /// Is the name in PyTorch's state, such as "exp_avg", or in that of the variant.
  std::string_view name;
  float initial = 0;     ///< Is what each element is before the first update.
  bool squares = false;  ///< Says that it is a mean of squares, which is never negative.

  bool operator==(const StateTensor&) const = default;
};

/// Is a rule with norms of its own, for a parameter that is updated piece by piece: once all of its
/// elements have done the first step, the norms are known for the second. All spans of a call are
/// of the same elements.
struct ShardedRule {
  /// Lets the state follow the gradient, whose sum is cleared. Returns the squared norm of the
  /// directions of these elements, of which a caller passes one block of the norm at a time:
  /// norm_block elements, fewer at the parameter's end.
  double (*follow)(const Hyper&, std::int64_t step, std::span<const float> weight,
                   const SummedGradient& gradient, std::span<const std::span<float>> state);
  /// Writes the directions of elements that have done the first step to `directions`.
  void (*directions)(const Hyper&, std::int64_t step, std::span<const float> weight,
                     std::span<const std::span<float>> state, float* directions);
  /// Moves the weights. The squared norms are those of the whole parameter before, and of its
  /// directions.
  void (*move)(const Hyper&, std::int64_t step, double squared_weights, double squared_directions,
               std::span<float> weight, std::span<const std::span<float>> state);
};

struct OptimizerRule {
  /// Is the name in options and messages, such as "adamw".
  std::string_view name;
  /// The state that a parameter needs with these constants, in the order that `update` takes it.
  std::vector<StateTensor> (*state)(const Hyper&);
  /// Updates one parameter and its state from its gradient, whose sum it clears. `step` counts
  /// updates from 1; the gradient and all spans have the same size.
  void (*update)(const Hyper&, std::int64_t step, std::span<float> weight,
                 const SummedGradient& gradient, std::span<const std::span<float>> state);
  /// Says whether each element is updated by itself, so that a parameter may be updated piece by
  /// piece.
  bool elementwise = true;
  /// Says how a parameter is updated by its pieces or shards, if not each element by itself.
  const ShardedRule* in_shards = nullptr;
  /// The constants that the rule has, in the order of its settings' fields.
  std::span<const RuleConstant> constants = {};
  /// Checks the constants against each other; null if they do not depend on each other.
  /// @throws Error invalid_argument
  void (*check)(const Hyper&) = nullptr;
};

/// Says how one parameter is updated; a buffer, which is not trained, has no rule.
struct ParameterRule {
  const OptimizerRule* rule = nullptr;
  Hyper hyper = {};
};

/// Checks the constants. @throws Error invalid_argument that names the rule and the constant, what
/// it may be, and what it is.
void validate(const OptimizerRule& rule, const Hyper& hyper);

/// Returns the rule whose settings are `Settings`, one of OptimizerSettings. The rule's source
/// instantiates it, see rule_description.hpp.
template <class Settings>
const OptimizerRule& described_rule();

/// Returns every rule, in the order of OptimizerSettings.
std::span<const OptimizerRule* const> all_optimizer_rules();
/// Returns the rule called `name`.
/// @throws Error invalid_argument if there is none; lists the names.
const OptimizerRule& find_optimizer_rule(std::string_view name);

/// Returns the rule that `settings` are for, and the values that they give to its constants.
ParameterRule rule_of(const OptimizerSettings& settings);
/// Returns the settings of every rule, with their defaults.
std::span<const OptimizerSettings> default_settings();

}  // namespace penstock::graph
