// A host application that sees the installed headers and library only: what the library throws is
// caught as its own type, with its code.
#include <iostream>
#include <penstock/penstock.hpp>

int main() {
  penstock::Model model("lossless");
  model.output("y", model.linear("layer", model.input("x", {3}), 2));
  try {
    penstock::TrainingModel training(model, {}, penstock::Sgd{});
  } catch (const penstock::Error& error) {
    std::cout << "caught: " << error.what() << '\n';
    return error.code() == penstock::Errc::invalid_model ? 0 : 1;
  }
  std::cout << "a model without a loss was accepted\n";
  return 1;
}
