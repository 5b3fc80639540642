#include "actors/threads/allowed_cpus.hpp"

#include <algorithm>
#include <thread>

#if defined(__linux__)
#include <dirent.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <new>
#include <string_view>
#include <vector>

// These functions belong to an OpenMP runtime, and are null unless the process has such a runtime.
// Only GCC's runtime binds the main thread before the program begins, and only GCC's runtime can be
// asked for places safely: LLVM's runtime would bind the thread that asks. Only GCC's runtime has
// `GOACC_declare`.
extern "C" {
int omp_get_num_places() __attribute__((weak));
int omp_get_place_num_procs(int place) __attribute__((weak));
void omp_get_place_proc_ids(int place, int* ids) __attribute__((weak));
void GOACC_declare() __attribute__((weak));
}
#endif

namespace penstock::actors {

#if defined(__linux__)
namespace {

/// Returns the value of the environment variable `name`, or an empty text if it is not set.
std::string_view setting(const char* name) noexcept {
  const char* const value = std::getenv(name);
  return value ? value : std::string_view();
}

/// Returns whether `word`, without the blanks around it, is `expected` in upper or lower case.
bool is_word(std::string_view word, std::string_view expected) noexcept {
  constexpr std::string_view blanks = " \t\r\n\v\f";
  const auto lower = [](char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  };
  word.remove_prefix(std::min(word.find_first_not_of(blanks), word.size()));
  word.remove_suffix(word.size() - (word.find_last_not_of(blanks) + 1));
  return std::ranges::equal(word, expected, {}, lower);
}

/// Returns whether one of the words in `words`, which commas separate, is `expected`.
bool has_word(std::string_view words, std::string_view expected) noexcept {
  while (!words.empty()) {
    const std::size_t comma = std::min(words.find(','), words.size());
    if (is_word(words.substr(0, comma), expected)) return true;
    words.remove_prefix(std::min(comma + 1, words.size()));
  }
  return false;
}

/// Returns whether `affinity` names a type that binds threads. It is the value of KMP_AFFINITY: a
/// list of modifiers and one type.
bool kmp_binds_threads(std::string_view affinity) noexcept {
  return !affinity.empty() && !has_word(affinity, "none") && !has_word(affinity, "disabled");
}

/// Returns whether the environment asks OpenMP runtimes to bind threads to CPUs. No runtime binds
/// threads unless it is asked to do so.
bool openmp_binds_threads() noexcept {
  if (const std::string_view binding = setting("OMP_PROC_BIND"); !binding.empty())
    return !is_word(binding, "false");
  return !setting("OMP_PLACES").empty() || !setting("GOMP_CPU_AFFINITY").empty() ||
         kmp_binds_threads(setting("KMP_AFFINITY"));
}

}  // namespace

/// A Collector collects the CPUs of threads, and of OpenMP's places, in a set.
class AllowedCpus::Collector {
 public:
  /// Adds the CPUs that `thread` may use; 0 stands for the calling thread. Adds no CPUs if the
  /// operating system does not say which CPUs they are.
  void add_thread(pid_t thread) noexcept {
    std::array<cpu_set_t, 8> words = {};
    if (sched_getaffinity(thread, sizeof(words), words.data()) == 0)
      CPU_OR_S(sizeof(words), set_.words_.data(), set_.words_.data(), words.data());
  }

  void add_all_threads() noexcept {
    const std::unique_ptr<DIR, int (*)(DIR*)> tasks(opendir("/proc/self/task"), closedir);
    if (!tasks) return;
    while (const dirent* const task = readdir(tasks.get()))
      if (const int thread = std::atoi(task->d_name); thread > 0) add_thread(thread);
  }

  /// @throws std::bad_alloc
  void add_openmp_places() {
    if (!GOACC_declare || !omp_get_num_places || !omp_get_place_num_procs ||
        !omp_get_place_proc_ids)
      return;
    for (int place = 0; place < omp_get_num_places(); ++place) {
      std::vector<int> cpus(static_cast<std::size_t>(omp_get_place_num_procs(place)));
      omp_get_place_proc_ids(place, cpus.data());
      for (const int cpu : cpus) add_cpu(cpu);
    }
  }

  void add(const AllowedCpus& cpus) noexcept {
    CPU_OR_S(sizeof(set_.words_), set_.words_.data(), set_.words_.data(), cpus.words_.data());
  }

  const AllowedCpus& set() const noexcept { return set_; }

 private:
  void add_cpu(int cpu) noexcept {
    if (cpu >= 0) CPU_SET_S(static_cast<std::size_t>(cpu), sizeof(set_.words_), set_.words_.data());
  }

  AllowedCpus set_;
};

AllowedCpus AllowedCpus::of_this_thread() noexcept {
  Collector collector;
  collector.add_thread(0);
  return collector.set();
}

namespace {

/// `at_load` are the CPUs that the thread which loaded this library could use at that time.
const AllowedCpus at_load = AllowedCpus::of_this_thread();

}  // namespace

AllowedCpus AllowedCpus::now() noexcept {
  Collector collector;
  collector.add_thread(0);
  collector.add_thread(getpid());  // This is the main thread, which has the number of the process.
  if (!openmp_binds_threads()) return collector.set();
  collector.add_all_threads();
  collector.add(at_load);  // LLVM's runtime binds the main thread once it uses OpenMP.
  try {
    collector.add_openmp_places();
  } catch (const std::bad_alloc&) {
    // In this case, the set has only the CPUs that were found before.
  }
  return collector.set();
}

void AllowedCpus::use() const noexcept {
  if (CPU_COUNT_S(sizeof(words_), words_.data()) > 0)
    sched_setaffinity(0, sizeof(words_), words_.data());
}

int AllowedCpus::count() const noexcept {
  const int cpus = CPU_COUNT_S(sizeof(words_), words_.data());
  return cpus > 0 ? cpus : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

#else

AllowedCpus AllowedCpus::now() noexcept {
  return {};
}

void AllowedCpus::use() const noexcept {}

int AllowedCpus::count() const noexcept {
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

#endif

}  // namespace penstock::actors
