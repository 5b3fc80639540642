// 2.4 of docs/reference.md: these tests check how large outputs will be, by their modes and D, G
// and R.
#include "engine/output_sizes.hpp"

#include <gtest/gtest.h>

namespace penstock {
namespace {

using actors::OutputSelection;

constexpr std::int64_t rows_bytes = 2 * 3 * 4;  // A micro-batch of "rows" is f32 [2,3].
constexpr std::int64_t classes_bytes = 2 * 8;   // A micro-batch of "classes" is i64 [2].
constexpr std::int64_t weight_bytes = 5 * 4;    // The gradient is f32 [5].

struct OutputCase {
  OutputSelection selection;
  std::int64_t micro_batches;  // This is D·G.
  std::int64_t replicas;       // This is R.
  std::int64_t returned;       // This many micro-batches of all replicas are returned.
};

constexpr OutputCase output_cases[] = {
    {{OutputMode::all, 1}, 1, 1, 1},
    {{OutputMode::all, 1}, 12, 1, 12},
    {{OutputMode::all, 1}, 12, 2, 24},
    {{OutputMode::final, 1}, 1, 1, 1},
    {{OutputMode::final, 1}, 12, 1, 1},
    {{OutputMode::final, 1}, 12, 2, 2},
    {{OutputMode::every_n, 1}, 3, 2, 6},
    {{OutputMode::every_n, 5}, 12, 1, 2},
    {{OutputMode::every_n, 5}, 12, 3, 6},
    {{OutputMode::every_n, 12}, 12, 2, 2},
    {{OutputMode::every_n, 5}, 4, 2, 0},
    {{OutputMode::sum, 1}, 1, 1, 1},
    {{OutputMode::sum, 1}, 12, 1, 1},
    {{OutputMode::sum, 1}, 12, 4, 4},
    {{OutputMode::all, 1}, 1 << 20, 4, 1 << 22},
};

std::string words(const OutputCase& c) {
  return std::string(to_string(c.selection.mode)) + ' ' + std::to_string(c.selection.period) +
         " of " + std::to_string(c.micro_batches) + " micro-batches of " +
         std::to_string(c.replicas) + " replicas";
}

/// Returns a setup with outputs "rows" and "classes" and with two anchors between them. In training
/// it has a loss, too.
actors::PipelineSetup setup_of(bool training) {
  graph::Plan plan;
  plan.outputs = {{"rows", {DType::f32, {2, 3}}},
                  {"hidden", {DType::f32, {2, 3}}},
                  {"classes", {DType::i64, {2}}},
                  {"gradient", {DType::f32, {5}}}};
  if (training) {
    plan.outputs.push_back({"mean", {DType::f32, {}}});
    plan.loss = 4;
  }
  plan.anchors = {3, 1};
  actors::PipelineSetup setup;
  setup.plan = std::make_shared<const graph::Plan>(std::move(plan));
  return setup;
}

void expect_row(const OutputPlanReport& row, OutputKind kind, const std::string& name,
                std::int64_t bytes) {
  EXPECT_EQ(row.kind, kind) << name;
  EXPECT_EQ(row.name, name);
  EXPECT_EQ(row.bytes, bytes) << name;
}

TEST(OutputSizes, R2_4_AreThoseOfTheirModesRow) {
  for (const OutputCase& c : output_cases) {
    SCOPED_TRACE(words(c));
    actors::PipelineSetup setup = setup_of(true);
    setup.replicas = c.replicas;
    setup.outputs = c.selection;
    setup.anchors = {{OutputMode::sum, 1}, c.selection};
    const auto sizes = output_sizes(setup, {"g", "h"}, c.micro_batches);
    ASSERT_EQ(sizes.size(), 5u);
    expect_row(sizes[0], OutputKind::loss, "mean", c.returned * 4);
    expect_row(sizes[1], OutputKind::output, "rows", c.returned * rows_bytes);
    expect_row(sizes[2], OutputKind::output, "classes", c.returned * classes_bytes);
    expect_row(sizes[3], OutputKind::anchor, "g", c.replicas * weight_bytes);
    expect_row(sizes[4], OutputKind::anchor, "h", c.returned * rows_bytes);
  }
}

TEST(OutputSizes, R2_4_OfAnAnchorAreThoseOfItsOwnMode) {
  for (const OutputCase& c : output_cases) {
    SCOPED_TRACE(words(c));
    actors::PipelineSetup setup = setup_of(false);
    setup.replicas = c.replicas;
    setup.outputs = {OutputMode::final, 1};
    setup.anchors = {c.selection, {OutputMode::all, 1}};
    const auto sizes = output_sizes(setup, {"g", "h"}, c.micro_batches);
    ASSERT_EQ(sizes.size(), 4u);
    expect_row(sizes[0], OutputKind::output, "rows", c.replicas * rows_bytes);
    expect_row(sizes[1], OutputKind::output, "classes", c.replicas * classes_bytes);
    expect_row(sizes[2], OutputKind::anchor, "g", c.returned * weight_bytes);
    expect_row(sizes[3], OutputKind::anchor, "h", c.micro_batches * c.replicas * rows_bytes);
  }
}

}  // namespace
}  // namespace penstock
