#include "benchmarks/chains/stage_chains.hpp"

#include <string>

namespace penstock::benchmarks {
namespace {

/// Returns a chain of `count` stages. `add_stage` is called once for each stage, with the name of
/// the layer to add.
template <class AddStage>
Model chain(const char* name, std::int64_t inputs, int count, AddStage add_stage) {
  Model model(name);
  Value x = model.input("x", {inputs});
  for (int stage = 0; stage < count; ++stage) {
    const std::string number = std::to_string(stage);
    const auto block = model.block("B" + number);
    x = add_stage(model, "fc" + number, x);
    if (stage + 1 == count) model.loss(model.identity_loss(x));
  }
  return model;
}

}  // namespace

Model empty_stages(int count) {
  return chain("empty stages", 1, count, [](Model& model, const std::string& name, Value x) {
    return model.linear(name, x, 1, false);
  });
}

Model equal_stages() {
  // The first stage computes no gradient of its input, so it has two matrix products where the
  // other stages have three. The input of the first stage has 1.5 times the features of the other
  // stages, so that the work is equal.
  constexpr std::int64_t width = equal_stage_inputs * 2 / 3;
  return chain("equal stages", equal_stage_inputs, equal_stage_count,
               [](Model& model, const std::string& name, Value x) {
                 return model.relu(model.linear(name, x, width));
               });
}

}  // namespace penstock::benchmarks
