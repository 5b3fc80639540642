// This program shows what the compiler expects of a model that is cut into one, two or three
// stages, before anything is trained.
#include <iostream>
#include <penstock/penstock.hpp>
#include <string>

using namespace penstock;

namespace {

Model network() {
  Model model("network");
  Value x = model.input("x", {64});
  const Value labels = model.labels();
  for (int layer = 0; layer < 6; ++layer)
    x = model.relu(model.linear("fc" + std::to_string(layer), x, 256));
  model.loss(model.cross_entropy(model.linear("out", x, 10), labels));
  return model;
}

}  // namespace

int main() {
  for (int stages = 1; stages <= 3; ++stages) {
    Options options{.batch_size = 32};
    options.training.gradient_accumulation = 16;
    options.topology.automatic_stages = stages;
    const TrainingModel training(network(), options);
    const CompileReport& report = training.compile_report();
    std::cout << describe_stages(report) << '\n';
    for (const std::string& warning : report.warnings) std::cout << "warning: " << warning << '\n';
    if (static_cast<int>(report.stages.size()) != stages) return 1;
  }
}
