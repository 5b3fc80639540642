// The program penstock-onnx looks into files in the ONNX format, and checks what they compute.
#include <exception>
#include <iostream>
#include <string>
#include <variant>
#include <vector>

#include "apps/onnx/check.hpp"
#include "apps/onnx/command_line.hpp"
#include "apps/onnx/convert.hpp"
#include "apps/onnx/run.hpp"
#include "apps/onnx/summary.hpp"
#include "penstock/error.hpp"
#include "penstock/terminal_text.hpp"
#include "penstock/version.hpp"

namespace {

constexpr const char* usage =
    "Usage: penstock-onnx summary FILE\n"
    "       penstock-onnx run FILE --inputs FILE,... --output-dir DIR\n"
    "       penstock-onnx check FOLDER...\n"
    "       penstock-onnx convert FILE RESULT [--weights FILE]\n"
    "summary says what is in a file in the ONNX format: metadata, inputs, outputs, operators,\n"
    "parameters and layers, with their shapes, their parameters and their shares of the forward's\n"
    "cost, and what cannot be imported. run computes the outputs for tensors in files of ONNX\n"
    "(.pb) or NumPy (.npy), which are the model's inputs in their order, and writes them to DIR\n"
    "as output_0.npy, output_1.npy and so on. check runs folders that are as those of ONNX's own\n"
    "backend tests: a file model.onnx, and folders test_data_set_0 and so on with the tensors\n"
    "input_0.pb, output_0.pb and so on. It prints pass, fail or unsupported for each folder.\n"
    "convert writes the weights of a file in the ONNX format to RESULT, in the format of\n"
    "safetensors, under their names. With --weights, it writes the file in the ONNX format with\n"
    "the weights of a file in the format of safetensors in place of its own.\n"
    "penstock-onnx --version prints the version.\n"
    "The exit status is 0 if all went well, 1 if a folder of check fails, and 2 if arguments or\n"
    "files are refused, or if something cannot be written.\n";

constexpr int failed = 1, refused = 2;

/// An Execution does what a command asks for, and returns the process's exit status.
struct Execution {
  int operator()(const onnx_tool::SummaryCommand& command) const {
    onnx_tool::print_summary(command.file);
    return 0;
  }
  int operator()(const onnx_tool::RunCommand& command) const {
    onnx_tool::run(command.file, command.inputs, command.directory);
    return 0;
  }
  int operator()(const onnx_tool::CheckCommand& command) const {
    return onnx_tool::check_all(command.folders) ? 0 : failed;
  }
  int operator()(const onnx_tool::ConvertCommand& command) const {
    if (command.weights)
      onnx_tool::write_model(command.file, *command.weights, command.result);
    else
      onnx_tool::write_weights(command.file, command.result);
    return 0;
  }
};

/// Does what the arguments say, and returns the process's exit status.
int execute(const std::vector<std::string>& arguments) {
  if (arguments.size() == 1 && (arguments[0] == "--help" || arguments[0] == "-h")) {
    std::cout << usage;
    return 0;
  }
  if (arguments.size() == 1 && arguments[0] == "--version") {
    std::cout << "penstock-onnx " << penstock::version << '\n';
    return 0;
  }
  return std::visit(Execution{}, onnx_tool::read_command_line(arguments));
}

void print_failure(const std::exception& error) {
  std::cerr << "penstock-onnx: " << penstock::terminal_text(error.what()) << '\n';
}

}  // namespace

int main(int argc, char** argv) try {
  const int status = execute({argv + 1, argv + argc});
  if (!std::cout.flush())
    throw penstock::Error(penstock::Errc::io_error, "cannot write to the standard output");
  return status;
} catch (const onnx_tool::Misuse& misuse) {
  print_failure(misuse);
  std::cerr << usage;
  return refused;
} catch (const std::exception& error) {
  print_failure(error);
  return refused;
}
