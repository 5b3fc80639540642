// The program penstock-train trains a network on images and tests it. Its option --help lists all
// options.

#include <exception>
#include <new>

#include "apps/trainer/options/command_line.hpp"
#include "apps/trainer/output/console.hpp"
#include "apps/trainer/process.hpp"
#include "apps/trainer/run.hpp"

int main(int argc, char** argv) {
  constexpr int refused_code = 2, failed_code = 1;
  int code = refused_code;
  trainer::let_writes_fail();
  try {
    const trainer::Command command = trainer::read_command_line(argc, argv);
    if (command.text)
      trainer::print(*command.text);
    else
      trainer::Run(command.options).execute([&] { code = failed_code; });
    return 0;
  } catch (const std::bad_alloc&) {
    trainer::print_failure("not enough memory");
  } catch (const std::exception& error) {
    trainer::print_failure(error.what() ? error.what() : "an exception without a text");
  }
  return code;
}
