#include "graph/compile/offload_choices.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace penstock::graph {
namespace {

struct OffloadClass {
  const char* name;
  Option option;  ///< This option keeps the class in the host store.
  Option on_ipu;  ///< This option keeps the class on the IPUs in phased execution.
  Offload OffloadOptions::*offload;
  bool in_inference;
};

constexpr std::array<OffloadClass, 4> classes{
    {{"the optimizer's state", Option::offload_optimizer_state, Option::optimizer_state_on_ipu,
      &OffloadOptions::optimizer_state, false},
     {"the gradient sums", Option::offload_accumulators, Option::accumulators_on_ipu,
      &OffloadOptions::accumulators, false},
     {"the activations", Option::offload_activations, Option::activations_on_ipu,
      &OffloadOptions::activations, false},
     {"the weights", Option::offload_weights, Option::weights_on_ipu, &OffloadOptions::weights,
      true}}};

using Chosen = std::vector<const OffloadClass*>;

OffloadChoice choice_of(const Chosen& chosen, OffloadOptions offload, bool phased) {
  Remedy remedy;
  for (const OffloadClass* one : chosen) {
    (offload.*one->offload).on = true;
    const bool is_last = one == chosen.back();
    remedy.text += (remedy.text.empty() ? "" : is_last ? " and " : ", ") + std::string(one->name);
    (phased ? remedy.turned_off : remedy.turned_on).push_back(phased ? one->on_ipu : one->option);
  }
  remedy.text += " in the host store";
  return {std::move(remedy), offload, static_cast<int>(chosen.size())};
}

}  // namespace

std::vector<OffloadChoice> offload_choices(const OffloadOptions& offload, bool training,
                                           bool phased) {
  Chosen off;
  for (const OffloadClass& one : classes)
    if (!(offload.*one.offload).on && (training || one.in_inference)) off.push_back(&one);
  std::vector<OffloadChoice> choices;
  for (unsigned set = 1; set < 1u << off.size(); ++set) {
    Chosen chosen;
    for (std::size_t i = 0; i < off.size(); ++i)
      if (set >> i & 1u) chosen.push_back(off[i]);
    choices.push_back(choice_of(chosen, offload, phased));
  }
  std::ranges::stable_sort(choices, std::less<>(), &OffloadChoice::classes);
  return choices;
}

}  // namespace penstock::graph
