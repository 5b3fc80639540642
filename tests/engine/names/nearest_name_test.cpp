#include "penstock/nearest_name.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace penstock {
namespace {

const std::vector<std::string_view> options{
    "model", "epochs",  "batch-size",  "learning-rate",     "replication-factor",
    "debug", "lr-step", "num-workers", "device-iterations", "ipus"};

TEST(NearestName, IsTheOneThatAMisspeltNameWasMeantToBe) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"epoch", "epochs"},
      {"epcohs", "epochs"},
      {"batch_size", "batch-size"},
      {"batchsize", "batch-size"},
      {"BatchSize", "batch-size"},
      {"lr", "learning-rate"},
      {"learning", "learning-rate"},
      {"replicas", "replication-factor"},
      {"workers", "num-workers"},
      {"iterations", "device-iterations"},
      {"ipu", "ipus"},
      {"lr_steps", "lr-step"}};
  for (const auto& [name, expected] : cases) EXPECT_EQ(nearest_name(name, options), expected);
}

TEST(NearestName, IsNoneOfThoseThatAreFar) {
  for (const std::string_view name : {"", "-", "x", "foo", "momentum", "help", "rep", "\xff\xff"})
    EXPECT_EQ(nearest_name(name, options), "") << name;
  EXPECT_EQ(nearest_name("epoch", {}), "");
  EXPECT_EQ(nearest_name(std::string(1'000'000, 'e'), options), "");
}

TEST(NearestName, IsTheNearestOfSeveralAndTheFirstOfEqualOnes) {
  const std::vector<std::string_view> known{"stages", "state", "stage", "stale"};
  EXPECT_EQ(nearest_name("stag", known), "stage");
  EXPECT_EQ(nearest_name("stake", known), "state");
}

}  // namespace
}  // namespace penstock
