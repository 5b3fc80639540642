#include "graph/plan/optimizers/optimizer_rule.hpp"

#include <string>

#include "graph/values/number_range.hpp"

namespace penstock::graph {
namespace {

struct Constant {
  std::string_view name;
  double Hyper::*value;
  NumberRange range = {};
};

constexpr NumberRange fraction{.high = 1, .below_high = true};

constexpr Constant constants[] = {
    {"learning_rate", &Hyper::learning_rate},
    {"momentum", &Hyper::momentum},
    {"dampening", &Hyper::dampening},
    {"weight_decay", &Hyper::weight_decay},
    {"beta1", &Hyper::beta1, fraction},
    {"beta2", &Hyper::beta2, fraction},
    {"eps", &Hyper::eps},
    {"alpha", &Hyper::alpha, fraction},
    {"max_weight_norm", &Hyper::max_weight_norm, {.above_low = true}},
};

}  // namespace

void validate(const OptimizerRule& rule, const Hyper& hyper) {
  for (const Constant& constant : constants)
    check_f32(std::string(rule.name) + "." + std::string(constant.name), hyper.*constant.value,
              constant.range);
  if (rule.check) rule.check(hyper);
}

}  // namespace penstock::graph
