// D6 of docs/reference.md: these tests check how many samples and micro-batches a full call takes,
// as factors of these numbers are easily mistaken for one another.
#include "penstock/call_size.hpp"

#include <gtest/gtest.h>

#include "penstock/options.hpp"
#include "penstock/report_text.hpp"

namespace penstock {
namespace {

struct CallCase {
  int b, g, d, r, group;
  // A step takes this many samples and micro-batches in all replicas.
  std::int64_t step_samples, step_micro_batches;
  std::int64_t run_samples, run_micro_batches;
};

/// The factors of each case are 1 or have no common divisor, so that no factor can be mistaken for
/// another.
constexpr CallCase call_cases[] = {
    {1, 1, 1, 1, 1, 1, 1, 1, 1},
    {7, 1, 1, 1, 1, 7, 1, 7, 1},
    {1, 5, 1, 1, 1, 5, 5, 1, 1},
    {1, 1, 3, 1, 1, 3, 3, 3, 3},
    {1, 1, 1, 2, 1, 2, 2, 2, 2},
    {7, 5, 3, 2, 1, 210, 30, 42, 6},
    {7, 5, 3, 4, 2, 210, 60, 42, 12},  // Each pair of replicas gets the same samples.
    {40, 10, 10, 1, 1, 4000, 100, 400, 10},
};

Options options_of(const CallCase& c) {
  Options options{.batch_size = c.b, .device_iterations = c.d};
  options.training.gradient_accumulation = c.g;
  options.topology.replication_factor = c.r;
  options.topology.input_group_size = c.group;
  return options;
}

TEST(CallSize, D6_IsTheProductOfItsFactors) {
  for (const CallCase& c : call_cases) {
    SCOPED_TRACE(c.step_samples);
    const Options options = options_of(c);
    const CallSize step = size_of_step(options), run = size_of_run(options);
    EXPECT_EQ(step.samples(), c.step_samples);
    EXPECT_EQ(step.samples(), options.samples_per_step());
    EXPECT_EQ(step.micro_batches(), c.step_micro_batches);
    EXPECT_EQ(step.micro_batches_per_replica(), c.g * c.d);
    EXPECT_EQ(step.updates(), c.d);
    EXPECT_EQ(run.samples(), c.run_samples);
    EXPECT_EQ(run.micro_batches(), c.run_micro_batches);
    EXPECT_EQ(run.micro_batches_per_replica(), c.d);
    EXPECT_EQ(run.updates(), 0);
  }
}

TEST(CallSize, D6_IsATableOfAStepsFactors) {
  EXPECT_EQ(to_string(size_of_step(options_of({7, 5, 3, 4, 2, 0, 0, 0, 0}))),
            "batch size b             7    samples per micro-batch\n"
            "gradient accumulation G  5    micro-batches per replica and weight update\n"
            "device iterations D      3    weight updates per step\n"
            "replicas R               4    groups of 2 get the same samples\n"
            "micro-batches per step   60   = G x D x R\n"
            "updates per step         3    = D\n"
            "samples per step         210  = b x G x D x R / 2\n");
}

TEST(CallSize, D6_IsATableOfARunsFactors) {
  EXPECT_EQ(to_string(size_of_run(options_of({7, 5, 3, 2, 1, 0, 0, 0, 0}))),
            "batch size b           7   samples per micro-batch\n"
            "device iterations D    3   micro-batches per replica and run\n"
            "replicas R             2   each with samples of its own\n"
            "micro-batches per run  6   = D x R\n"
            "samples per run        42  = b x D x R\n");
}

}  // namespace
}  // namespace penstock
