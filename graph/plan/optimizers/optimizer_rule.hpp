// An OptimizerRule says how weights follow their gradients, as plain data. Each optimizer has one
// source in this folder, and its settings are in OptimizerSettings. Rules are pure: a rule has no
// state of its own and may run on any thread. A rule works in f32, on each element by itself or
// with norms of its own parameter (LAMB), so that a parameter's bits depend on nothing but that
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

/// No rule keeps more state tensors for a parameter than this number.
inline constexpr std::size_t most_state_tensors = 4;

/// A SettingsField points to a field of a rule's settings.
using SettingsField = std::variant<double*, bool*, std::optional<double>*>;

/// A RuleConstant is a constant that a rule has.
struct RuleConstant {
  const Constant* constant;
  /// Returns the field that keeps the constant in settings of this rule.
  SettingsField (*field)(OptimizerSettings&);
};

/// A StateTensor is a tensor of the parameter's size that a rule keeps from update to update.
struct StateTensor {
  /// `name` is the tensor's name in PyTorch's state, such as "exp_avg", or in the state of the
  /// library whose variant of the rule is chosen.
  std::string_view name;
  float initial = 0;  ///< `initial` is what each element is before the first update.
  /// `never_negative` says whether no element is ever negative.
  bool never_negative = false;

  bool operator==(const StateTensor&) const = default;
};

/// A ShardedRule is the form of a rule that needs norms of the parameter in which the rule updates
/// the parameter piece by piece. The rule has two steps: the norms that the second step needs are
/// known when all elements have done the first step. All spans of a call cover the same elements.
struct ShardedRule {
  /// Does the first step: updates the state from the gradient. Returns the squared norm of the
  /// directions in which the elements move. A caller passes one block of the norm at a time, which
  /// has norm_block elements, or fewer at the parameter's end.
  double (*follow)(const Hyper&, std::int64_t step, std::span<const float> weight,
                   const SummedGradient& gradient, std::span<const std::span<float>> state);
  /// Writes the directions of elements that have done the first step to `directions`.
  void (*directions)(const Hyper&, std::int64_t step, std::span<const float> weight,
                     std::span<const std::span<float>> state, float* directions);
  /// Does the second step: moves the weights. `squared_weights` is the squared norm of the whole
  /// parameter before the update, and `squared_directions` is the squared norm of all directions of
  /// the parameter.
  void (*move)(const Hyper&, std::int64_t step, double squared_weights, double squared_directions,
               std::span<float> weight, std::span<const std::span<float>> state);
};

struct OptimizerRule {
  /// `name` is the name in options and messages, such as "adamw".
  std::string_view name;
  /// Returns the state tensors that a parameter needs with these constants, in the order in which
  /// `update` takes them.
  std::vector<StateTensor> (*state)(const Hyper&);
  /// Updates one parameter and its state from its gradient. `step` counts updates from 1; the
  /// gradient and all spans have the same size.
  void (*update)(const Hyper&, std::int64_t step, std::span<float> weight,
                 const SummedGradient& gradient, std::span<const std::span<float>> state);
  /// `elementwise` says whether each element is updated by itself, so that a parameter may be
  /// updated piece by piece.
  bool elementwise = true;
  /// `in_shards` says how a parameter is updated in pieces or shards. It is null if the rule is
  /// elementwise.
  const ShardedRule* in_shards = nullptr;
  /// `constants` has the constants of the rule, in the order of its settings' fields.
  std::span<const RuleConstant> constants = {};
  /// Checks the constants against each other. The pointer is null if the constants do not depend on
  /// each other.
  /// @throws Error invalid_argument
  void (*check)(const Hyper&) = nullptr;
};

/// A ParameterRule says how one parameter is updated; a buffer, which is not trained, has no rule.
struct ParameterRule {
  const OptimizerRule* rule = nullptr;
  Hyper hyper = {};
};

/// Checks the constants. @throws Error invalid_argument with a text that names the rule and the
/// constant, and says what the constant may be and what it is.
void validate(const OptimizerRule& rule, const Hyper& hyper);

/// Returns the rule whose settings are `Settings`, one of OptimizerSettings. The source of the rule
/// instantiates this template; see rule_description.hpp.
template <class Settings>
const OptimizerRule& described_rule();

/// Returns every rule, in the order of OptimizerSettings.
std::span<const OptimizerRule* const> all_optimizer_rules();
/// Returns the rule called `name`.
/// @throws Error invalid_argument if there is no such rule; the text lists the names of all rules.
const OptimizerRule& find_optimizer_rule(std::string_view name);

/// Returns the rule to which `settings` belong, and the values that `settings` give to the
/// constants.
ParameterRule rule_of(const OptimizerSettings& settings);
/// Returns the settings of every rule, with their default values.
std::span<const OptimizerSettings> default_settings();

}  // namespace penstock::graph
