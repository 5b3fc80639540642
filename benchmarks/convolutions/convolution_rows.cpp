#include "benchmarks/convolutions/convolution_rows.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>

#include "benchmarks/convolutions/comparison.hpp"
#include "benchmarks/convolutions/deep_convolutions.hpp"
#include "benchmarks/machine/one_core.hpp"
#include "benchmarks/measuring/table.hpp"
#include "benchmarks/onednn/onednn.hpp"
#include "benchmarks/ops/convolution_passes.hpp"

namespace penstock::benchmarks {
namespace {

/// A ConvolutionRow is one line of the table.
struct ConvolutionRow {
  std::string work, pass, setting;
  std::string penstock = {}, of_peak = {};
  /// `own` and `plain` are oneDNN's speeds in the layouts that oneDNN chooses and in those of the
  /// engine. Behind each is the engine's speed as a multiple of it.
  std::string own = {}, own_times = {}, plain = {}, plain_times = {};
};

void print_line(const ConvolutionRow& row) {
  std::printf("%-32s %-15s %-18s %8s %13s %12s %5s %13s %5s\n", row.work.c_str(), row.pass.c_str(),
              row.setting.c_str(), row.penstock.c_str(), row.of_peak.c_str(), row.own.c_str(),
              row.own_times.c_str(), row.plain.c_str(), row.plain_times.c_str());
  std::fflush(stdout);
}

/// Returns a text such as "resnet18 3x3/2 64-128", in which 2 is the stride.
std::string title_of(const DeepConvolution& work) {
  const Convolution& c = work.convolution;
  const std::string taps = std::to_string(c.kernel), in = std::to_string(c.in_channels),
                    stride = c.stride == 1 ? "" : "/" + std::to_string(c.stride);
  return std::string(work.network) + " " + taps + "x" + taps + stride + " " +
         (c.groups > 1 ? "depthwise " + in : in + "-" + std::to_string(c.out_channels));
}

/// Prints the row of the engine's speed `gflops`, which is one of those of `comparison`.
void print_row(ConvolutionRow row, const Comparison& comparison, double gflops) {
  const double of_peak = 100 * gflops / comparison.peak;
  row.penstock = number(gflops, 1);
  row.of_peak = number(of_peak);
  if (comparison.seen < 1) row.of_peak += " [" + number(of_peak * comparison.seen) + "]";
  if (comparison.own > 0) {
    row.own = number(comparison.own, 1);
    row.own_times = number(gflops / comparison.own, 2);
    row.plain = number(comparison.plain, 1);
    row.plain_times = number(gflops / comparison.plain, 2);
  }
  print_line(row);
}

/// Prints a row for each layout in which the engine computes `pass`, and returns whether all
/// results are the same.
bool print_pass(const DeepConvolution& work, Pass pass, int rounds) {
  const Comparison comparison = compare(work.convolution, pass, rounds);
  ConvolutionRow row{.work = title_of(work),
                     .pass = passes[static_cast<std::size_t>(pass)],
                     .setting = setting_of(work.convolution)};
  print_row(row, comparison, comparison.penstock);
  if (comparison.lanes > 0) {
    row.setting += ", lanes";
    print_row(row, comparison, comparison.lanes);
  }
  if (comparison.difference <= 1e-4) return true;
  std::printf("  but the results differ by %.2g\n", comparison.difference);
  return false;
}

bool print_rows(int rounds) {
  bool same = true;
  for (DeepConvolution& work : deep_convolutions())
    for (const std::int64_t images : {8, 32})
      for (const Pass pass : {Pass::forward, Pass::weight_gradient, Pass::input_gradient}) {
        work.convolution.images = images;
        same = print_pass(work, pass, rounds) && same;
      }
  return same;
}

}  // namespace

bool print_convolution_rows(int rounds) {
  bool same = true;
  std::printf("Convolutions of deep networks on one core, in GFLOP/s; oneDNN %s\n\n",
              onednn() != nullptr ? onednn()->version().c_str() : "not installed");
  print_line({"work", "pass", "setting", "Penstock", "% of peak", "oneDNN, its", "times",
              "oneDNN, these", "times"});
  on_one_core([&] { same = print_rows(rounds); });
  std::printf(
      "\nmedians of %d by turns; %% of peak: of one core's, in [] without the multiplications by "
      "zeros around\nimages; lanes: in the batch-lane layout, in which networks may compute this "
      "convolution; oneDNN is in\nlayouts of its own, to which nothing has to be converted, and in "
      "[N,C,H,W]; times: Penstock's speed as\na multiple of oneDNN's\n",
      rounds);
  return same;
}

}  // namespace penstock::benchmarks
