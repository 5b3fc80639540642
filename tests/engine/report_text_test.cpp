#include "penstock/report_text.hpp"

#include <gtest/gtest.h>

namespace penstock {
namespace {

TEST(CompileReport, IsATableWithItsColumnsAligned) {
  const CompileReport report{
      .seconds = 0.0125,
      .steps = {{"differentiate", 0.002}, {"plan memory", 0.0005}},
      .call = {.batch_size = 16, .gradient_accumulation = 2, .device_iterations = 5, .replicas = 3},
      .stages = {{.stage = 0,
                  .ipu = 2,
                  .blocks = {"B1", "B2"},
                  .first_layer = "conv1",
                  .parameters = 5280,
                  .forward_flops = 1.25e6,
                  .backward_flops = 2.5e6,
                  .share = 0.75,
                  .in_flight_limit = 3,
                  .stash_bytes = 40960,
                  .bytes = 123456},
                 {.stage = 1,
                  .ipu = 11,
                  .blocks = {"B3"},
                  .first_layer = "fc",
                  .share = 0.25,
                  .in_flight_limit = 1}},
      .edges = {{.from = -1, .to = 0, .tensor = "x", .bytes = 4000},
                {.from = 0, .to = 1, .tensor = "conv1", .bytes = 23040},
                {.from = 1, .to = 0, .gradient = true, .bytes = 512}},
      .outputs = {{OutputKind::loss, "mean", 12},
                  {OutputKind::output, "logits", 1920},
                  {OutputKind::anchor, "pooled", 64000}},
      .layout_conversions = 2,
      .lanes = 48,
      .wasted_lanes = 8,
      .expected_utilization = 0.934,
      .ramp = 3,
      .threads = 2,
      .threads_per_ipu = 2,
      .expected_speedup = 1.334,
      .warnings = {"two micro-batches do not fill two stages"}};
  EXPECT_EQ(to_string(report),
            "compiled in 12.50 ms: differentiate 2.00 ms, plan memory 0.50 ms\n"
            "batch size b             16   samples per micro-batch\n"
            "gradient accumulation G  2    micro-batches per replica and weight update\n"
            "device iterations D      5    weight updates per step\n"
            "replicas R               3    each with samples of its own\n"
            "micro-batches per step   30   = G x D x R\n"
            "updates per step         5    = D\n"
            "samples per step         480  = b x G x D x R\n"
            "stage  IPU  blocks   from  parameters  forward MFLOP  backward MFLOP  share  "
            "in flight  stash kB     kB\n"
            "    0    2   B1,B2  conv1        5280          1.250           2.500   75 %  "
            "        3      41.0  123.5\n"
            "    1   11      B3     fc           0          0.000           0.000   25 %  "
            "        1       0.0    0.0\n"
            "stages: 2 stages, from conv1, fc; the slowest has 75 % of the work; expected: 1.3 "
            "times the throughput of one stage, on 2 threads\n"
            "expected utilization 93 %, full after 3 micro-batches, layout conversions 2, lanes "
            "wasted by padding 8 of 48, threads per IPU 2\n"
            "sent per micro-batch, in kB: 0 to 1 23.0, 1 to 0 0.5\n"
            "returned per step, in bytes: loss 12, logits 1920, anchor pooled 64000; 65932 in all\n"
            "warning: two micro-batches do not fill two stages\n");
}

TEST(CompileReport, SaysThatItsPlanWasRead) {
  CompileReport report{.seconds = 0.001, .from_cache = true};
  report.stages.emplace_back();
  EXPECT_TRUE(to_string(report).starts_with("read from the plan cache in 1.00 ms\n"));
}

TEST(CompileReport, ShowsTheTimesThatWereMeasured) {
  const CompileReport report{.stages = {{.first_layer = "conv",
                                         .share = 1,
                                         .forward_seconds = 12.34e-6,
                                         .backward_seconds = 0.5e-6}},
                             .threads = 1,
                             .automatic_stages = true};
  const std::string text = to_string(report);
  EXPECT_NE(text.find("  forward us  backward us  share"), text.npos) << text;
  EXPECT_NE(text.find("        12.3          0.5  100 %"), text.npos) << text;
  EXPECT_EQ(text.find("lanes"), text.npos) << text;
  EXPECT_NE(text.find("\nstages auto: 1 stage, from conv; the slowest has 100 % of the work; "
                      "expected: 1.0 times the throughput of one stage, on 1 thread\n"),
            text.npos)
      << text;
}

TEST(CompileReport, ShowsWhatIsRecomputed) {
  const CompileReport report{
      .stages = {
          {.first_layer = "conv", .backward_flops = 3e6, .recomputed_flops = 1.5e6, .share = 1}}};
  const std::string text = to_string(report);
  EXPECT_NE(text.find("  backward MFLOP  of it recomputed  share"), text.npos) << text;
  EXPECT_NE(text.find("           3.000             1.500  100 %"), text.npos) << text;
}

}  // namespace
}  // namespace penstock
