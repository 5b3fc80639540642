#include "penstock/report.hpp"

#include <gtest/gtest.h>

namespace penstock {
namespace {

TEST(CompileReport, IsATableWithItsColumnsAligned) {
  const CompileReport report{
      .seconds = 0.0125,
      .phases = {{"differentiate", 0.002}, {"plan memory", 0.0005}},
      .stages = {{.stage = 0,
                  .ipu = 2,
                  .blocks = {"B1", "B2"},
                  .parameters = 5280,
                  .forward_flops = 1.25e6,
                  .backward_flops = 2.5e6,
                  .in_flight_limit = 3,
                  .bytes = 123456},
                 {.stage = 1, .ipu = 11, .blocks = {"B3"}, .in_flight_limit = 1}},
      .layout_conversions = 2,
      .expected_utilization = 0.934,
      .warnings = {"two micro-batches do not fill two stages"}};
  EXPECT_EQ(to_string(report),
            "compiled in 12.50 ms: differentiate 2.00 ms, plan memory 0.50 ms\n"
            "stage  IPU  blocks  parameters  forward MFLOP  backward MFLOP  in flight     kB\n"
            "    0    2   B1,B2        5280          1.250           2.500          3  123.5\n"
            "    1   11      B3           0          0.000           0.000          1    0.0\n"
            "expected utilisation 93 %, layout conversions 2\n"
            "warning: two micro-batches do not fill two stages\n");
}

}  // namespace
}  // namespace penstock
