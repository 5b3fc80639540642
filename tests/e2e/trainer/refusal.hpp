// A TrainerRefusal is a run that the trainer must refuse before the first step, with one line that
// names what is wrong, and without a change of any file.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "tests/e2e/trainer/trainer.hpp"
#include "tests/support/temporary_directory.hpp"

namespace penstock::testing {

/// A BadRun returns the arguments of a run, and may put the files that the run reads into `inputs`.
using BadRun = std::function<Arguments(const TemporaryDirectory& inputs)>;

struct Refusal {
  const char* name;
  BadRun run;
  std::string text;  ///< The refusal must contain this text.
};

class TrainerRefusal : public ::testing::TestWithParam<Refusal> {};

inline std::string refusal_name(const ::testing::TestParamInfo<Refusal>& info) {
  return info.param.name;
}

}  // namespace penstock::testing
