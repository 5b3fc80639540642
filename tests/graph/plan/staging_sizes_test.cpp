#include "graph/plan/staging_sizes.hpp"

#include <gtest/gtest.h>

#include <string>

namespace penstock::graph {
namespace {

struct Row {
  StagedTensors staged;
  std::int64_t scratch;
  std::int64_t least;
  std::int64_t at_once;
};

TEST(Staging, TakesPiecesThatFitAndWholeTensorsWherePiecesWillNotDo) {
  const Row rows[] = {
      {{.elements = 10, .tensors = 2}, 128, 128, 10},
      {{.elements = 1024, .tensors = 2}, 8192, 8192, 1024},
      {{.elements = 5000, .tensors = 2}, 8192, 8192, 1024},
      {{.elements = 5000, .tensors = 2}, 8192 + 127, 8192, 1024},
      {{.elements = 5000, .tensors = 2}, 8192 + 128, 8192, 1040},
      {{.elements = 5000, .tensors = 2}, 1'000'000, 8192, 5000},
      {{.elements = 5000, .tensors = 1}, 4096, 4096, 1024},
      {{.elements = 5000, .tensors = 3, .in_pieces = false}, 60'096, 60'096, 5000},
      {{.elements = 5000, .tensors = 0}, 0, 0, 5000},
  };
  for (const Row& row : rows) {
    const std::string what = std::to_string(row.staged.elements) + " elements of " +
                             std::to_string(row.staged.tensors) + " tensors in " +
                             std::to_string(row.scratch) + " bytes";
    EXPECT_EQ(least_staging_bytes(row.staged), row.least) << what;
    EXPECT_EQ(elements_at_once(row.staged, row.scratch), row.at_once) << what;
  }
}

TEST(Staging, OfAnUpdateHasRoomForTheRuleTheNormAndTwoSums) {
  struct Row {
    StagedUpdate update;
    std::int64_t bytes;
  };
  const Row rows[] = {
      {{.elements = 5000}, 0},
      {{.elements = 5000, .state_tensors = 2}, 8192},
      {{.elements = 5000, .sum = true}, 20'032},  // The norm needs these bytes.
      {{.elements = 100'000, .sum = true}, 32'768},
      {{.elements = 100'000, .state_tensors = 2, .sum = true}, 32'768},
      {{.elements = 100'000, .state_tensors = 9, .sum = true}, 40'960},
      {{.elements = 100'000, .state_tensors = 2, .sum = true, .elementwise = false}, 1'200'000},
      {{.elements = 10, .sum = true}, 128},  // There is room for two sums of 64 bytes.
      {{.elements = 5000, .weight = true}, 4096},
      {{.elements = 5000, .state_tensors = 2, .weight = true}, 12'288},
      {{.elements = 100, .elementwise = false, .measured = 1000}, 0},
      // The norm needs these bytes.
      {{.elements = 100, .elementwise = false, .weight = true, .measured = 1000}, 4032},
      {{.elements = 100, .elementwise = false, .weight = true, .measured = 100'000}, 32'768},
  };
  for (const Row& row : rows)
    EXPECT_EQ(update_staging_bytes(row.update), row.bytes)
        << row.update.elements << " " << row.update.state_tensors;
  EXPECT_EQ(program_staging_bytes(10), 64);
  EXPECT_EQ(program_staging_bytes(4096), 16'384);
  EXPECT_EQ(program_staging_bytes(1'000'000), 16'384);
}

}  // namespace
}  // namespace penstock::graph
