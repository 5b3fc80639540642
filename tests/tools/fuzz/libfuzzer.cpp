// What LLVM's libFuzzer, which brings the main function, calls in a program that it fuzzes. One run
// fuzzes one reader:
//
//   PROGRAM --reader=NAME [OPTIONS OF LIBFUZZER] [CORPUS]
//   PROGRAM --write=DIRECTORY    prints the name of each reader, and writes its seeds to
//                                DIRECTORY/NAME/ and its words to DIRECTORY/NAME.dict
//
// scripts/fuzz builds these programs and runs them.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "tests/tools/fuzz/fuzzed_reader.hpp"

namespace penstock::testing {
namespace {

FuzzedReader chosen;

/// Writes `word` as libFuzzer's dictionaries have it: every byte as \xNN, in quotes.
void write_word(std::ostream& file, const std::string& word) {
  file << '"';
  for (const unsigned char c : word) {
    char text[5];
    std::snprintf(text, sizeof text, "\\x%02X", c);
    file << text;
  }
  file << "\"\n";
}

void write_seeds(const FuzzedReader& reader, const std::filesystem::path& directory) {
  std::filesystem::create_directories(directory / reader.name);
  int number = 0;
  for (const auto* inputs : {&reader.seeds, &reader.hostile})
    for (const std::string& input : *inputs)
      std::ofstream(directory / reader.name / ("seed_" + std::to_string(number++))) << input;
  std::ofstream words(directory / (reader.name + ".dict"));
  for (const std::string& word : reader.words)
    if (!word.empty()) write_word(words, word);
}

/// Returns what stands behind `name` in `word`, or a null pointer if `word` does not begin so.
const char* value_of(std::string_view name, const char* word) {
  return std::string_view(word).starts_with(name) ? word + name.size() : nullptr;
}

/// Carries out the option `word`. Returns whether it is one of this program's.
bool carried_out(const char* word) {
  if (const char* directory = value_of("--write=", word)) {
    for (const FuzzedReader& reader : fuzzed_readers()) {
      write_seeds(reader, directory);
      std::printf("%s\n", reader.name.c_str());
    }
    std::exit(0);
  }
  const char* name = value_of("--reader=", word);
  if (!name) return false;
  for (FuzzedReader& reader : fuzzed_readers())
    if (reader.name == name) chosen = reader;
  return true;
}

}  // namespace
}  // namespace penstock::testing

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  using namespace penstock::testing;
  int kept = 1;
  for (int i = 1; i < *argc; ++i)
    if (!carried_out((*argv)[i])) (*argv)[kept++] = (*argv)[i];
  *argc = kept;
  if (chosen.read) return 0;
  std::fprintf(stderr, "expected --reader=NAME, where NAME is one of:\n");
  for (const FuzzedReader& reader : fuzzed_readers())
    std::fprintf(stderr, "%s\n", reader.name.c_str());
  std::exit(2);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace penstock::testing;
  const Reading reading =
      reading_of(chosen, std::string(reinterpret_cast<const char*>(bytes), size));
  if (reading.defect.empty()) return 0;
  std::fprintf(stderr, "%s: %s\n", chosen.name.c_str(), reading.defect.c_str());
  std::abort();
}
