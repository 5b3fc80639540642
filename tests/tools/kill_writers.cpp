// Kills a process that writes weights, plans and a run's metrics, at random instants, and looks at
// what is there afterwards: each file is whole, the old one or the new one. The suite does it a few
// times; for longer:
//
//   build-test/tests/tools/kill_writers --kills 300 [--seed S]
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>

#include "engine/files/weights_file.hpp"
#include "engine/plan_cache/plan_cache.hpp"
#include "penstock/error.hpp"
#include "penstock/output_file.hpp"
#include "tests/support/temporary_directory.hpp"

namespace penstock::testing {
namespace {

constexpr std::int64_t elements = 20'000;
constexpr std::size_t lines = 2'000;
constexpr std::int64_t cache_limit = 1 << 30;

/// What the files of a generation hold.
std::string text_of(int generation) {
  std::string text;
  for (std::size_t i = 0; i < lines; ++i) text += std::to_string(generation) + "\n";
  return text;
}

/// Writes generations for ever.
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
  expect(text == text_of(std::stoi(text)), what + " of two generations, or cut off");
}

/// How many files have been left behind: at most one, by the commit that the kill came into.
int expect_whole_files(const TemporaryDirectory& directory, int least) {
  expect(generation_of_weights(directory) >= least, "weights older than before");
  const auto plan = PlanCache(directory / "plans", cache_limit).read("key");
  expect(plan.has_value(), "the plan is lost");
  expect_one_generation(*plan, "a plan");
  expect_one_generation(file_content(directory / "metrics"), "metrics");
  int left = 0;
  for (const std::filesystem::path& folder : {directory.path(), directory / "plans"})
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      if (entry.path().filename().string().starts_with(".penstock-")) {
        ++left;
        std::filesystem::remove(entry.path());
      }
  expect(left <= 1, "several files are left behind");
  return left;
}

/// Starts a writer, waits until it has written each file, kills it after a while.
void write_and_kill(const TemporaryDirectory& directory, int generation,
                    std::chrono::microseconds after) {
  std::filesystem::remove(directory / "metrics");
  const pid_t writer = ::fork();
  expect(writer >= 0, "cannot fork");
  if (writer == 0) {
    try {
      write_all(directory, generation);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "the writer: %s\n", error.what());
      ::_exit(1);
    }
  }
  int status = 0;
  while (!std::filesystem::exists(directory / "metrics") &&
         ::waitpid(writer, &status, WNOHANG) == 0)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::this_thread::sleep_for(after);
  ::kill(writer, SIGKILL);
  ::waitpid(writer, &status, 0);
  expect(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "the writer ended by itself");
}

int kill_writers(int kills, unsigned seed) {
  const TemporaryDirectory directory;
  std::mt19937 random(seed);
  int generation = 1, left = 0;
  for (int i = 0; i < kills; ++i) {
    write_and_kill(directory, generation, std::chrono::microseconds(random() % 20'000));
    left += expect_whole_files(directory, generation);
    generation = generation_of_weights(directory) + 1;
  }
  std::printf("%d kills, %d generations, %d files left behind, all others whole\n", kills,
              generation - 1, left);
  return 0;
}

}  // namespace
}  // namespace penstock::testing

int main(int argc, char** argv) {
  int kills = 300;
  unsigned seed = 1;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::string(argv[i]) == "--kills") kills = std::atoi(argv[i + 1]);
    if (std::string(argv[i]) == "--seed") seed = static_cast<unsigned>(std::atoi(argv[i + 1]));
  }
  try {
    return penstock::testing::kill_writers(kills, seed);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "kill_writers: %s\n", error.what());
    return 1;
  }
}
