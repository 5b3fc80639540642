// Fuzzes the trainer's reader of configuration files. The suite makes a short draw; a long one is
//
//   build-test/tests/tools/fuzz/fuzz_configuration --seconds 600 [--seed S]
#include <memory>

#include "apps/trainer/options/configuration.hpp"
#include "tests/tools/fuzz/fuzzed_reader.hpp"
#include "tests/tools/fuzz/memory_file.hpp"

namespace penstock::testing {

std::vector<FuzzedReader> fuzzed_readers() {
  const auto file = std::make_shared<MemoryFile>();
  return {
      {"configuration",
       {trainer::configuration_text({}),
        R"({"epochs": 3, "optimizer": "sgd", "momentum": 0.9, "stages": "B1|B2,B3,B4", "debug": true})"},
       {"{", "}", "[", "]", ":", ",", "\"", "true", "null", "1e999", "-1", "\\u0041", "auto", "|"},
       [file](const std::string& text) {
         file->write(text);
         trainer::TrainerOptions options;
         apply(trainer::read_configuration(file->path()), options);
       },
       {R"({"epochs": 1, "epochs": 2})", R"({"epochs": 1e400})", R"({"epochs": [3]})",
        R"({"no-such-option": 1})", R"({"stages": )" + std::string(100'000, '['), "[]", "",
        R"({"config": "x"})"}}};
}

}  // namespace penstock::testing
