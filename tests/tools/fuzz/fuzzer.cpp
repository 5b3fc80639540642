#include "tests/tools/fuzz/fuzzer.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string_view>

#include "penstock/error.hpp"
#include "tests/tools/fuzz/mutations.hpp"

namespace penstock::testing {
namespace {

constexpr std::size_t longest_text = 6000;
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
    return reader.seeds[random() % reader.seeds.size()];
  };
  const std::string& base = any();
  const std::string& other = any();
  return mutated(base, reader.words, other, random);
}

/// Returns what is wrong with a refusal, or an empty text if the refusal is right: its text is one
/// short line, and its cause lies in the input.
std::string defect_of(const Error& error) {
  const std::string_view text = error.what();
  if (error.code() == Errc::internal || error.code() == Errc::out_of_memory)
    return std::string(to_string(error.code())) + ": " + std::string(text.substr(0, 200));
  if (text.size() > longest_text) return "a text of " + std::to_string(text.size()) + " bytes";
  const bool one_line =
      std::ranges::none_of(text, [](char c) { return c == '\n' || c == '\r' || c == '\x1b'; });
  return one_line ? "" : "a text of several lines, or with control characters";
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
    try {
      reader_.read(input);
      return true;
    } catch (const Error& error) {
      if (const std::string defect = defect_of(error); !defect.empty()) report(defect);
    } catch (const std::exception& error) {
      report(std::string("an exception that is no Error: ") + error.what());
    }
    return false;
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

}  // namespace

int fuzz(std::span<const FuzzedReader> readers, int argc, char** argv) {
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
  for (const FuzzedReader& reader : readers)
    if (is_wanted(reader, settings)) {
      ++fuzzed;
      good = Fuzzing(reader, settings).run() && good;
    }
  if (fuzzed == 0) std::fprintf(stderr, "there is no reader of that name\n");
  return fuzzed == 0 ? 2 : good ? 0 : 1;
}

}  // namespace penstock::testing
