// This is a host application that sees the installed headers and library only. It catches what the
// library throws as a penstock::Error, and checks the error's code.
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
