// This program measures what the engine itself costs: the microseconds per stage visit, and the
// processor time that an engine takes while nobody calls it. Usage: overhead_benchmark [ROUNDS]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "benchmarks/chains/empty_pipeline.hpp"
#include "benchmarks/measuring/processor_time.hpp"

namespace penstock::benchmarks {
namespace {

void print_visits(const EmptyPipeline::Setting& setting, int rounds) {
  std::printf("%7d %6d %-10s %8d %12.2f\n", setting.stages, setting.accumulation,
              std::string(to_string(setting.strategy)).c_str(), setting.threads,
              EmptyPipeline(setting).visit_microseconds(rounds));
  std::fflush(stdout);
}

void print_idle_time(int threads_per_ipu) {
  constexpr std::chrono::seconds idle{2};
  EmptyPipeline engine({.stages = 4, .threads_per_ipu = threads_per_ipu});
  engine.visit_microseconds(1);
  const double before = processor_seconds();
  std::this_thread::sleep_for(idle);
  std::printf(
      "an idle engine of 4 stages, threads per IPU %d, used %.2f ms of processor time in %lld s\n",
      threads_per_ipu, (processor_seconds() - before) * 1e3, static_cast<long long>(idle.count()));
}

}  // namespace
}  // namespace penstock::benchmarks

int main(int argc, char** argv) {
  using namespace penstock::benchmarks;
  using penstock::Strategy;
  const int rounds = argc > 1 ? std::max(1, std::atoi(argv[1])) : 9;
  std::printf("%7s %6s %-10s %8s %12s\n", "stages", "G", "strategy", "threads", "us/visit");
  for (const int threads : {1, 2}) {
    print_visits({4, 400, Strategy::pipelined, threads}, rounds);
    print_visits({4, 400, Strategy::sharded, threads}, rounds);
    print_visits({1000, 40, Strategy::pipelined, threads}, rounds);
  }
  std::printf("\n");
  for (const int threads_per_ipu : {1, 2}) print_idle_time(threads_per_ipu);
}
