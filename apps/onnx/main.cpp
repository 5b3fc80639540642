// The program penstock-onnx looks into files in the ONNX format, and checks what they compute.
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "apps/onnx/check.hpp"
#include "apps/onnx/summary.hpp"
#include "penstock/terminal_text.hpp"
#include "penstock/version.hpp"

namespace {

constexpr const char* usage =
    "Usage: penstock-onnx summary FILE\n"
    "       penstock-onnx check FOLDER...\n"
    "summary says what is in a file in the ONNX format: inputs, outputs, operators, parameters "
    "and\n"
    "layers, and what cannot be imported. check runs folders that are as those of ONNX's own\n"
    "backend tests: a file model.onnx, and folders test_data_set_0 and so on with the tensors\n"
    "input_0.pb, output_0.pb and so on. It prints pass, fail or unsupported for each folder.\n"
    "penstock-onnx --version prints the version.\n";

constexpr int refused = 2;

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() == 1 && (arguments[0] == "--help" || arguments[0] == "-h")) {
    std::cout << usage;
    return 0;
  }
  if (arguments.size() == 1 && arguments[0] == "--version") {
    std::cout << "penstock-onnx " << penstock::version << '\n';
    return 0;
  }
  const bool summary = arguments.size() == 2 && arguments[0] == "summary";
  if (!summary && (arguments.size() < 2 || arguments[0] != "check")) {
    std::cerr << usage;
    return refused;
  }
  try {
    bool good = true;
    if (summary)
      onnx_tool::print_summary(arguments[1]);
    else
      good = onnx_tool::check_all({arguments.begin() + 1, arguments.end()});
    return good && std::cout.flush() ? 0 : 1;
  } catch (const std::exception& error) {
    std::cerr << "penstock-onnx: " << penstock::terminal_text(error.what()) << '\n';
    return refused;
  }
}
