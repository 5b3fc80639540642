// This program compares the peak memory of processes in which the engine and PyTorch do the same
// work: training and inference of torchvision's networks. It prints a row for each setting of each
// contest. For each figure, it runs itself with the number of a contest and of a setting, because
// the peak of a process counts everything that the process has done before.
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/trainer/peak_memory.hpp"
#include "benchmarks/measuring/table.hpp"
#include "benchmarks/networks/deep_contests.hpp"
#include "benchmarks/pytorch/pytorch.hpp"
#include "benchmarks/runners/penstock_runner.hpp"

namespace penstock::benchmarks {
namespace {

constexpr const char* of_pytorch = "pytorch";

/// Does the work of `contest` a few times, in setting number `setting` of the engine or, if
/// `setting` is of_pytorch, with PyTorch. Returns the peak memory of this process in bytes.
std::int64_t peak_of(const Contest& contest, const std::string& setting) {
  const Samples samples = noise(contest.task.network, contest.pytorch.samples());
  const std::unique_ptr<Runner> runner =
      setting == of_pytorch
          ? pytorch()->runner(contest.task, contest.pytorch, initial_weights(contest.task.network),
                              samples)
          : penstock_runner(contest.task, contest.settings.at(std::stoul(setting)), samples);
  for (int run = 0; run < 3; ++run) runner->run();
  return trainer::peak_resident_bytes();
}

/// Returns what this program, whose file is `program`, prints for a contest and a setting, in MB,
/// or nothing if it fails.
std::optional<double> megabytes(const std::string& program, std::size_t contest,
                                const std::string& setting) {
  const std::string command = "'" + program + "' " + std::to_string(contest) + " " + setting;
  std::FILE* const output = popen(command.c_str(), "r");
  if (output == nullptr) return std::nullopt;
  long long bytes = 0;
  const bool is_read = std::fscanf(output, "%lld", &bytes) == 1;
  if (pclose(output) != 0 || !is_read) return std::nullopt;
  return static_cast<double>(bytes) * 1e-6;
}

std::string path_of_program() {
  std::vector<char> path(4096);
  const ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
  return {path.data(), length > 0 ? static_cast<std::size_t>(length) : 0};
}

/// Prints all rows, and returns whether all figures are there.
bool print_all() {
  const std::string program = path_of_program();
  const std::vector<Contest> contests = deep_contests();
  bool complete = true;
  print_header();
  for (std::size_t i = 0; i < contests.size(); ++i) {
    std::optional<double> theirs;
    if (pytorch() != nullptr) {
      theirs = megabytes(program, i, of_pytorch);
      complete = complete && theirs;
    }
    for (std::size_t k = 0; k < contests[i].settings.size(); ++k) {
      const auto ours = megabytes(program, i, std::to_string(k));
      complete = complete && ours;
      Row row{.work = contests[i].title,
              .unit = "MB",
              .setting = contests[i].settings[k].name,
              .penstock = ours ? number(*ours) : "failed"};
      if (theirs) row.pytorch = number(*theirs);
      if (ours && theirs) {
        row.times = number(*ours / *theirs, 2);
        row.goals.push_back(at_most(1, *ours / *theirs, 2) + " (times)");
      }
      print(row);
    }
  }
  return complete;
}

}  // namespace
}  // namespace penstock::benchmarks

int main(int argc, char** argv) {
  using namespace penstock::benchmarks;
  if (argc == 3)
    std::printf("%lld\n",
                static_cast<long long>(peak_of(deep_contests().at(std::stoul(argv[1])), argv[2])));
  else
    return print_all() ? 0 : 1;
}
