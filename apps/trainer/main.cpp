// The program penstock-train trains a network on images and tests it. Its option --help lists all
// options.

#include <exception>
#include <functional>
#include <new>

#include "apps/trainer/download/print_download.hpp"
#include "apps/trainer/interruption.hpp"
#include "apps/trainer/options/command_line.hpp"
#include "apps/trainer/output/console.hpp"
#include "apps/trainer/process.hpp"
#include "apps/trainer/run.hpp"

namespace {

/// Makes and executes a run. Returns the signal that has stopped it, or 0.
int run(const trainer::TrainerOptions& options, const std::function<void()>& on_first_step) {
  return trainer::Run(options).execute(on_first_step);
}

}  // namespace

int main(int argc, char** argv) {
  constexpr int refused_code = 2, failed_code = 1;
  int code = refused_code;
  trainer::let_writes_fail();
  try {
    const trainer::Command command = trainer::read_command_line(argc, argv);
    if (!command.note.empty()) trainer::print_note(command.note);
    if (command.text) {
      trainer::print(*command.text);
      return 0;
    }
    if (command.options.download.dataset) {
      code = failed_code;
      trainer::print_download(command.options);
      return 0;
    }
    const int signal = run(command.options, [&] { code = failed_code; });
    if (signal != 0) trainer::end_process_by(signal);
    return 0;
  } catch (const std::bad_alloc&) {
    trainer::print_failure("not enough memory");
  } catch (const std::exception& error) {
    trainer::print_failure(error.what() ? error.what() : "an exception without a text");
  }
  return code;
}
