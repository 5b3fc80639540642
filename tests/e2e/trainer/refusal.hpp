// Runs that the trainer must refuse: before the first step, with one line that names what is wrong,
// and without a trace in any file.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "tests/e2e/trainer/trainer.hpp"
#include "tests/support/temporary_directory.hpp"

namespace penstock::testing {

/// The arguments of a run; may put the files that it reads into the directory.
using BadRun = std::function<Arguments(const TemporaryDirectory& inputs)>;

struct Refusal {
  const char* name;
  BadRun run;
  std::string text;  ///< Is what the refusal names.
};

class TrainerRefusal : public ::testing::TestWithParam<Refusal> {};

inline std::string refusal_name(const ::testing::TestParamInfo<Refusal>& info) {
  return info.param.name;
}

}  // namespace penstock::testing
