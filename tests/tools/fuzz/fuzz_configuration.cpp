// Fuzzes the trainer's reader of configuration files. The suite makes a short draw; a long one is
//
//   build-test/tests/tools/fuzz/fuzz_configuration --seconds 600 [--seed S]
#include "apps/trainer/options/configuration.hpp"
#include "tests/tools/fuzz/fuzzer.hpp"
#include "tests/tools/fuzz/memory_file.hpp"

int main(int argc, char** argv) {
  using namespace penstock::testing;
  MemoryFile file;
  const FuzzedReader reader{
      "configuration",
      {trainer::configuration_text({}),
       R"({"epochs": 3, "optimizer": "sgd", "momentum": 0.9, "stages": "B1|B2,B3,B4", "debug": true})"},
      {"{", "}", "[", "]", ":", ",", "\"", "true", "null", "1e999", "-1", "\\u0041", "auto", "|"},
      [&](const std::string& text) {
        file.write(text);
        trainer::TrainerOptions options;
        apply(trainer::read_configuration(file.path()), options);
      }};
  return fuzz(std::span(&reader, 1), argc, argv);
}
