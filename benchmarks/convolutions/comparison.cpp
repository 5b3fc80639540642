#include "benchmarks/convolutions/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "benchmarks/convolutions/lane_call.hpp"
#include "benchmarks/machine/fma_peak.hpp"
#include "benchmarks/measuring/turns.hpp"
#include "benchmarks/onednn/onednn.hpp"
#include "benchmarks/ops/convolution_passes.hpp"
#include "benchmarks/ops/op_call.hpp"

namespace penstock::benchmarks {
namespace {

/// A Contestant computes the pass in a way of its own.
struct Contestant {
  double Comparison::*speed;  ///< `speed` is the place of the contestant's speed.
  std::function<void()> run;
  /// Returns the result of the last run in the plain layout.
  std::function<std::vector<float>()> result;
};

/// Returns the contestant whose runs and results are those of `call`.
template <class Call>
Contestant contestant(double Comparison::*speed, std::shared_ptr<Call> call) {
  return {speed, [call] { call->run(); }, [call] { return call->result(); }};
}

/// Returns all contestants, which compute from the same random numbers. The first of them is
/// `call`, which is a call of `item`.
std::vector<Contestant> contestants(const Convolution& convolution, Pass pass, const OpCase& item,
                                    const std::shared_ptr<OpCall>& call) {
  std::vector<Contestant> all{contestant(&Comparison::penstock, call)};
  if (const auto lanes = lane_passes(convolution))
    all.push_back(contestant(&Comparison::lanes,
                             std::make_shared<LaneCall>(case_of(*lanes, pass), item, *call)));
  if (onednn() == nullptr) return all;
  for (const auto& [layouts, speed] :
       {std::pair(Layouts::own, &Comparison::own), std::pair(Layouts::plain, &Comparison::plain)})
    all.push_back(
        contestant(speed, std::shared_ptr(onednn()->call(convolution, pass, layouts, call->input(0),
                                                         call->input(1)))));
  return all;
}

/// Returns the largest difference between two elements at the same place, divided by the largest
/// element of `expected`. The result is infinite if a difference is not a number.
double difference(std::span<const float> expected, std::span<const float> got) {
  double largest = 0, apart = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double distance = std::abs(double{expected[i]} - double{got[i]});
    if (std::isnan(distance)) return std::numeric_limits<double>::infinity();
    largest = std::max(largest, std::abs(double{expected[i]}));
    apart = std::max(apart, distance);
  }
  return apart == 0 ? 0 : apart / largest;
}

}  // namespace

Comparison compare(const Convolution& convolution, Pass pass, int rounds) {
  const OpCase item = case_of(convolution_passes(convolution), pass);
  const auto call = std::make_shared<OpCall>(item);
  const std::vector<Contestant> all = contestants(convolution, pass, item, call);
  Comparison comparison{.seen = item.seen};
  const graph::Isa isa = graph::available_isas().back();
  std::vector<std::function<double()>> turns{[isa] { return fma_peak_now(isa); }};
  for (const Contestant& each : all) {
    each.run();
    comparison.difference =
        std::max(comparison.difference, difference(call->result(), each.result()));
    turns.push_back([&each] { return call_seconds(each.run); });
  }
  const std::vector<double> medians = medians_by_turns(rounds, turns);
  comparison.peak = medians.front();
  for (std::size_t i = 0; i < all.size(); ++i)
    comparison.*all[i].speed = call->cost().flops / medians[i + 1] * 1e-9;
  return comparison;
}

}  // namespace penstock::benchmarks
