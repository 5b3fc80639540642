// The program penstock-onnx looks into files in the ONNX format, and checks what they compute.
#include <exception>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "apps/onnx/check.hpp"
#include "apps/onnx/convert.hpp"
#include "apps/onnx/run.hpp"
#include "apps/onnx/summary.hpp"
#include "penstock/terminal_text.hpp"
#include "penstock/version.hpp"

namespace {

constexpr const char* usage =
    "Usage: penstock-onnx summary FILE\n"
    "       penstock-onnx run FILE --inputs FILE,... --output-dir DIR\n"
    "       penstock-onnx check FOLDER...\n"
    "       penstock-onnx convert FILE RESULT [--weights FILE]\n"
    "summary says what is in a file in the ONNX format: inputs, outputs, operators, parameters\n"
    "and layers, with their shapes, their parameters and their shares of the forward's cost, and\n"
    "what cannot be imported. run computes the outputs for tensors in files of ONNX (.pb) or\n"
    "NumPy (.npy), which are the model's inputs in their order, and writes them to DIR as\n"
    "output_0.npy, output_1.npy and so on. check runs folders that are as those of ONNX's own\n"
    "backend tests: a file model.onnx, and folders test_data_set_0 and so on with the tensors\n"
    "input_0.pb, output_0.pb and so on. It prints pass, fail or unsupported for each folder.\n"
    "convert writes the weights of a file in the ONNX format to RESULT, in the format of\n"
    "safetensors, under their names. With --weights, it writes the file in the ONNX format with\n"
    "the weights of a file in the format of safetensors in place of its own.\n"
    "penstock-onnx --version prints the version.\n";

constexpr int refused = 2;

using Arguments = std::vector<std::string>;

/// Returns the parts of a list that commas separate.
Arguments parts_of(const std::string& list) {
  Arguments parts;
  std::istringstream stream(list);
  for (std::string part; std::getline(stream, part, ',');) parts.push_back(part);
  return parts;
}

/// Returns the value of the option `name` among the arguments from number 2 on, or an empty text.
std::string option_of(const Arguments& arguments, const std::string& name) {
  for (std::size_t i = 2; i + 1 < arguments.size(); i += 2)
    if (arguments[i] == name) return arguments[i + 1];
  return "";
}

/// Exchanges weights, if the arguments are those of convert, and returns whether they are.
bool convert(const Arguments& arguments) {
  if (arguments.size() == 3) {
    onnx_tool::write_weights(arguments[1], arguments[2]);
    return true;
  }
  if (arguments.size() != 5 || arguments[3] != "--weights") return false;
  onnx_tool::write_model(arguments[1], arguments[4], arguments[2]);
  return true;
}

/// Does what the arguments say, and returns the process's exit code; -1 says that they say nothing.
int execute(const Arguments& arguments) {
  const std::string command = arguments.empty() ? "" : arguments[0];
  if (command == "summary" && arguments.size() == 2) {
    onnx_tool::print_summary(arguments[1]);
    return 0;
  }
  if (command == "check" && arguments.size() >= 2)
    return onnx_tool::check_all({arguments.begin() + 1, arguments.end()}) ? 0 : 1;
  if (command == "convert") return convert(arguments) ? 0 : -1;
  const std::string inputs = option_of(arguments, "--inputs"),
                    directory = option_of(arguments, "--output-dir");
  if (command != "run" || arguments.size() != 6 || inputs.empty() || directory.empty()) return -1;
  onnx_tool::run(arguments[1], parts_of(inputs), directory);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments(argv + 1, argv + argc);
  if (arguments.size() == 1 && (arguments[0] == "--help" || arguments[0] == "-h")) {
    std::cout << usage;
    return 0;
  }
  if (arguments.size() == 1 && arguments[0] == "--version") {
    std::cout << "penstock-onnx " << penstock::version << '\n';
    return 0;
  }
  try {
    const int status = execute(arguments);
    if (status < 0) {
      std::cerr << usage;
      return refused;
    }
    return std::cout.flush() ? status : 1;
  } catch (const std::exception& error) {
    std::cerr << "penstock-onnx: " << penstock::terminal_text(error.what()) << '\n';
    return refused;
  }
}
