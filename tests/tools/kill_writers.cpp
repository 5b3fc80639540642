// This program kills a process that replaces weights, plans and a run's metrics, at random
// instants, and checks the files afterwards. Each file must be whole, either the old one or the new
// one, and no temporary file may outlive its writer for longer than until the next clean-up. The
// test suite runs it for a few kills; a longer run is
//
//   build-test/tests/tools/kill_writers --kills 300 [--seed S]
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>

#include "engine/files/temporary_file.hpp"
#include "engine/files/weights_file.hpp"
#include "engine/plan_cache/plan_cache.hpp"
#include "penstock/error.hpp"
#include "penstock/output_file.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/tools/kill_program.hpp"

namespace penstock::testing {
namespace {

constexpr std::int64_t elements = 20'000;
constexpr std::size_t lines = 2'000;
constexpr std::int64_t cache_limit = 1 << 30;

/// Returns the text that the plan and the metrics of a generation hold.
std::string text_of(int generation) {
  std::string text;
  for (std::size_t i = 0; i < lines; ++i) text += std::to_string(generation) + "\n";
  return text;
}

/// Writes all files again and again for ever, each time with the number of the next generation.
[[noreturn]] void write_all(const TemporaryDirectory& directory, int generation) {
  for (;; ++generation) {
    const std::vector<float> values(elements, static_cast<float>(generation));
    WeightsFile weights;
    weights.metadata["generation"] = std::to_string(generation);
    weights.tensors.emplace("w", Tensor(Shape{elements}, std::span<const float>(values)));
    write_weights_file(directory / "weights", weights);
    PlanCache(directory / "plans", cache_limit).write("key", text_of(generation));
    OutputFile metrics(directory / "metrics");
    for (std::size_t i = 0; i < lines; ++i) metrics.write(std::to_string(generation) + "\n");
    metrics.commit();
  }
}

void expect(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error(what);
}

int generation_of_weights(const TemporaryDirectory& directory) {
  const WeightsFile weights = read_weights_file(directory / "weights");
  const int generation = std::stoi(weights.metadata.at("generation"));
  for (const float value : weights.tensors.at("w").as<float>())
    expect(value == static_cast<float>(generation), "weights of two generations in one file");
  return generation;
}

void expect_one_generation(const std::string& text, const std::string& what) {
  const bool has_number = !text.empty() && text[0] >= '0' && text[0] <= '9';
  expect(has_number && text == text_of(std::stoi(text)), what + " of two generations, or cut off");
}

/// Returns the generation of the metrics, or 0 if there are none yet.
int generation_of_metrics(const TemporaryDirectory& directory) {
  if (!std::filesystem::exists(directory / "metrics")) return 0;
  const std::string text = file_content(directory / "metrics");
  expect_one_generation(text, "metrics");
  return std::stoi(text);
}

/// Returns how many temporary files there are, and expects that the process `writer` made them.
int count_temporaries(const TemporaryDirectory& directory, pid_t writer) {
  const std::string prefix = ".penstock-" + std::to_string(writer) + "-";
  int count = 0;
  for (const std::filesystem::path& folder : {directory.path(), directory / "plans"})
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      const std::string name = entry.path().filename().string();
      if (!name.starts_with(".penstock-")) continue;
      expect(name.starts_with(prefix), "\"" + name + "\" is left of an earlier writer");
      ++count;
    }
  return count;
}

/// Expects that each file is whole and at least of generation `least`. Returns how many temporary
/// files the killed process `writer` has left behind: at most one, which it was committing.
int expect_whole_files(const TemporaryDirectory& directory, int least, pid_t writer) {
  expect(generation_of_weights(directory) >= least, "weights older than before");
  const auto plan = PlanCache(directory / "plans", cache_limit).read("key");
  expect(plan.has_value(), "the plan is lost");
  expect_one_generation(*plan, "a plan");
  expect(std::stoi(*plan) >= least, "a plan older than before");
  expect(generation_of_metrics(directory) >= least, "metrics older than before");
  const int left = count_temporaries(directory, writer);
  expect(left <= 1, "several files are left behind");
  for (const std::filesystem::path& folder : {directory.path(), directory / "plans"})
    TemporaryFile::remove_abandoned(folder, std::chrono::seconds(0));
  expect(count_temporaries(directory, writer) == 0, "a file that is left behind is not removed");
  return left;
}

/// Starts a process that writes generations from `generation` on, over the files of earlier
/// writers. Waits until it has replaced each file, waits for the time `after`, and kills the
/// process. Returns the number of the process.
pid_t write_and_kill(const TemporaryDirectory& directory, int generation,
                     std::chrono::microseconds after) {
  const pid_t writer = ::fork();
  expect(writer >= 0, "cannot fork");
  if (writer == 0) {
    // Without this call, the writer would go on for ever if this program ended after a failed
    // check.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    try {
      write_all(directory, generation);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "the writer: %s\n", error.what());
      ::_exit(1);
    }
  }
  int status = 0;
  // generation_of_metrics() also expects that the metrics are whole while they are being replaced.
  while (generation_of_metrics(directory) < generation && ::waitpid(writer, &status, WNOHANG) == 0)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::this_thread::sleep_for(after);
  ::kill(writer, SIGKILL);
  ::waitpid(writer, &status, 0);
  expect(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "the writer ended by itself");
  return writer;
}

int kill_writers(int kills, unsigned seed) {
  const TemporaryDirectory directory;
  std::mt19937 random(seed);
  int generation = 1, left = 0;
  for (int i = 0; i < kills; ++i) {
    const pid_t writer =
        write_and_kill(directory, generation, std::chrono::microseconds(random() % 20'000));
    left += expect_whole_files(directory, generation, writer);
    generation = generation_of_weights(directory) + 1;
  }
  std::printf("%d kills, %d generations, %d files left behind, all others whole\n", kills,
              generation - 1, left);
  return 0;
}

}  // namespace
}  // namespace penstock::testing

int main(int argc, char** argv) {
  using namespace penstock::testing;
  return kill_program(argc, argv, "kill_writers", kill_writers);
}
