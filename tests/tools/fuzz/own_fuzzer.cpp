// The main function of a program that mutates inputs of its readers. It expects that the reader
// accepts each mutation or refuses it with an error of one short line, and neither crashes nor runs
// for ever.
//
// The options are --seconds, --draws, --seed and --first, each of them with a number, and the names
// of readers.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "tests/tools/fuzz/fuzzed_reader.hpp"
#include "tests/tools/fuzz/mutations.hpp"

namespace penstock::testing {
namespace {

constexpr unsigned most_seconds_per_input = 60;

struct Settings {
  std::uint64_t seed = 1;
  std::uint64_t first = 0;  ///< This is the number of the first draw.
  std::uint64_t draws = std::numeric_limits<std::uint64_t>::max();
  double seconds = std::numeric_limits<double>::infinity();
  std::vector<std::string> names = {};
};

/// These are the reader in use and the number of its draw, for the handler of signals.
const char* current_reader = "";
volatile std::uint64_t current_draw = 0;

extern "C" void tell_and_die(int signal) {
  char text[200];
  const int size =
      std::snprintf(text, sizeof text, "%s: signal %d in draw %llu (--first %llu --draws 1)\n",
                    current_reader, signal, static_cast<unsigned long long>(current_draw),
                    static_cast<unsigned long long>(current_draw));
  if (::write(STDERR_FILENO, text, static_cast<std::size_t>(size)) < 0) ::_exit(1);
  ::_exit(1);
}

std::uint64_t mixed(std::uint64_t seed, std::uint64_t draw) {
  return (seed * 0x9e3779b97f4a7c15u) ^ (draw * 0xbf58476d1ce4e5b9u);
}

/// Returns the input of a draw, which is a mutation of the reader's seeds. Its random numbers do
/// not depend on those of other draws.
std::string input_of(const FuzzedReader& reader, std::uint64_t seed, std::uint64_t draw) {
  std::mt19937_64 random(mixed(seed, draw));
  const auto any = [&]() -> const std::string& {
    // What is made of hostile inputs is seldom accepted.
    const bool is_hostile = !reader.hostile.empty() && random() % 8 == 0;
    const std::vector<std::string>& inputs = is_hostile ? reader.hostile : reader.seeds;
    return inputs[random() % inputs.size()];
  };
  const std::string& base = any();
  const std::string& other = any();
  return mutated(base, reader.words, other, random);
}

class Fuzzing {
 public:
  Fuzzing(const FuzzedReader& reader, const Settings& settings)
      : reader_(reader), settings_(settings) {}

  /// Fuzzes the reader, and returns whether no defect was found.
  bool run() {
    using Clock = std::chrono::steady_clock;
    const auto begin = Clock::now();
    const auto elapsed = [&] {
      return std::chrono::duration<double>(Clock::now() - begin).count();
    };
    current_reader = reader_.name.c_str();
    for (const std::string& seed : reader_.seeds)
      if (!accepts(seed)) report("a seed is refused");
    for (std::size_t i = 0; i < reader_.hostile.size(); ++i)
      if (accepts(reader_.hostile[i]))
        report("hostile input " + std::to_string(i) + " is accepted");
    std::uint64_t draw = settings_.first;
    for (; draw - settings_.first < settings_.draws && elapsed() < settings_.seconds; ++draw) {
      current_draw = draw;
      ::alarm(most_seconds_per_input);
      ++(accepts(input_of(reader_, settings_.seed, draw)) ? accepted_ : refused_);
    }
    ::alarm(0);
    if (settings_.draws > 100 && (accepted_ == 0 || refused_ == 0))
      report("the mutations are too strong or too weak to find anything");
    std::printf("%s: %llu read, %llu refused, %llu defects, %.1f s\n", reader_.name.c_str(),
                accepted_, refused_, defects_, elapsed());
    std::fflush(stdout);
    return defects_ == 0;
  }

 private:
  bool accepts(const std::string& input) {
    const Reading reading = reading_of(reader_, input);
    if (!reading.defect.empty()) report(reading.defect);
    return reading.accepted;
  }

  void report(const std::string& what) {
    ++defects_;
    std::fprintf(stderr, "%s: draw %llu (--first %llu --draws 1): %s\n", reader_.name.c_str(),
                 static_cast<unsigned long long>(current_draw),
                 static_cast<unsigned long long>(current_draw), what.c_str());
  }

  const FuzzedReader& reader_;
  const Settings& settings_;
  unsigned long long accepted_ = 0, refused_ = 0, defects_ = 0;
};

/// Returns the command line's settings. @throws what std::stoull() and std::stod() throw for a
/// number that they cannot read.
Settings settings_of(int argc, char** argv) {
  Settings settings;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto value = [&] { return i + 1 < argc ? std::string(argv[++i]) : std::string(); };
    if (word == "--seed")
      settings.seed = std::stoull(value());
    else if (word == "--first")
      settings.first = std::stoull(value());
    else if (word == "--draws")
      settings.draws = std::stoull(value());
    else if (word == "--seconds")
      settings.seconds = std::stod(value());
    else
      settings.names.push_back(word);
  }
  return settings;
}

bool is_wanted(const FuzzedReader& reader, const Settings& settings) {
  return settings.names.empty() || std::ranges::count(settings.names, reader.name) > 0;
}

/// Fuzzes the readers that the command line names, or all of them, and prints the results. Returns
/// the process's exit code: 0 if no defect was found, 1 if one was, 2 if the command line is wrong.
int fuzz(int argc, char** argv) {
  Settings settings;
  try {
    settings = settings_of(argc, argv);
  } catch (const std::exception&) {
    std::fprintf(stderr, "expected numbers behind --seed, --first, --draws and --seconds\n");
    return 2;
  }
  for (const int signal : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGALRM})
    ::signal(signal, tell_and_die);
  bool good = true;
  std::size_t fuzzed = 0;
  for (const FuzzedReader& reader : fuzzed_readers())
    if (is_wanted(reader, settings)) {
      ++fuzzed;
      good = Fuzzing(reader, settings).run() && good;
    }
  if (fuzzed == 0) std::fprintf(stderr, "there is no reader of that name\n");
  return fuzzed == 0 ? 2 : good ? 0 : 1;
}

}  // namespace
}  // namespace penstock::testing

int main(int argc, char** argv) {
  return penstock::testing::fuzz(argc, argv);
}
