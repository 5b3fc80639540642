// These tests check how much of the machine's memory the trainer takes. They do not run under
// sanitizers, which take memory themselves.

#include <gtest/gtest.h>

#include "tests/e2e/trainer/metrics_file.hpp"
#include "tests/e2e/trainer/trainer.hpp"
#include "tests/support/idx_bytes.hpp"

namespace penstock::testing {
namespace {

TEST(TrainerMemory, StaysBelow250MegabytesWithAsManyImagesAsFashionMnistHas) {
  const TemporaryDirectory directory;
  write_file(directory / "train-images-idx3-ubyte", idx_bytes({60000, 28, 28}));
  write_file(directory / "train-labels-idx1-ubyte", idx_bytes({60000}));
  write_file(directory / "t10k-images-idx3-ubyte", idx_bytes({10000, 28, 28}));
  write_file(directory / "t10k-labels-idx1-ubyte", idx_bytes({10000}));
  const CommandResult result = train({"--data-dir", directory.path().string(), "--max-updates",
                                      "20", "--metrics", (directory / "metrics").string()});
  ASSERT_EQ(result.code, 0) << result.err;
  const std::int64_t peak =
      metrics_lines(directory / "metrics").back().at("summary").at("peak_rss_bytes");
  EXPECT_LT(peak, 250'000'000);
  EXPECT_GT(peak, 70'000 * 28 * 28) << "less than the images alone";
}

}  // namespace
}  // namespace penstock::testing
