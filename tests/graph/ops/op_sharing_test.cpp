// These tests check properties that every op whose work threads may share (Op::units) must have, on
// every call that the ops' samples make.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "graph/ops/list.hpp"
#include "graph/plan/sharing.hpp"
#include "tests/graph/ops/large_samples.hpp"
#include "tests/graph/ops/sample_run.hpp"
#include "tests/support/same_bits.hpp"

namespace penstock::graph {
namespace {

using testing::OpCall;
using testing::same_bits;

/// Calls `check(call, units)` for every kernel call of the samples that threads can share.
template <class Check>
void for_each_shared_call(Check check) {
  for (const Op* op : ops_with_samples()) {
    for (const OpSample& sample : all_samples_of(*op)) {
      const SampleRun run = run_sample(*op, sample);
      for (const OpCall& call : run.tape.calls()) {
        const std::int64_t units = units_of(call);
        if (units < 2) continue;
        SCOPED_TRACE(std::string(call.op->name) +
                     (call.inputs.empty() ? "" : " of " + to_string(call.inputs[0].shape())));
        check(call, units);
      }
    }
  }
}

/// Returns the parts of the work that threads would be given: `parts` of them, or as many as there
/// are units if that is less.
std::vector<Part> parts_of(std::int64_t units, std::int64_t parts) {
  const Sharing sharing{.units = units, .parts = static_cast<std::int32_t>(std::min(parts, units))};
  std::vector<Part> result;
  for (std::int32_t part = 0; part < sharing.parts; ++part)
    result.push_back(piece_of(sharing, part));
  return result;
}

std::span<const std::byte> bytes_of(const Tensor& tensor) {
  return {tensor.raw(), tensor.bytes()};
}

/// A Written counts, for each byte of an output, the parts of the work that write the byte, and
/// says whether all of them write what the undivided call writes.
struct Written {
  std::vector<int> times;
  bool as_the_whole = true;

  void add(std::span<const std::byte> one, std::span<const std::byte> other,
           std::span<const std::byte> whole) {
    times.resize(whole.size());
    for (std::size_t i = 0; i < whole.size(); ++i) {
      if (one[i] != other[i]) continue;  // The part has left this byte as it was.
      ++times[i];
      as_the_whole = as_the_whole && one[i] == whole[i];
    }
  }
};

void expect_parts_of_the_whole(const OpCall& call, const std::vector<Part>& parts) {
  const std::vector<Tensor> whole = run(call);
  std::vector<Written> written(whole.size());
  for (const Part& part : parts) {
    const auto one = run(call, {.poison = 0x5a, .parts = {part}});
    const auto other = run(call, {.poison = 0xa5, .parts = {part}});
    for (std::size_t i = 0; i < whole.size(); ++i)
      written[i].add(bytes_of(one[i]), bytes_of(other[i]), bytes_of(whole[i]));
  }
  for (std::size_t i = 0; i < whole.size(); ++i) {
    EXPECT_TRUE(written[i].as_the_whole) << "output " << i << " of " << parts.size() << " parts";
    EXPECT_TRUE(std::ranges::all_of(written[i].times, [](int times) { return times == 1; }))
        << "output " << i << " is written by none or several of " << parts.size() << " parts";
  }
}

TEST(OpSharing, GivesEachPartOutputsOfItsOwnWithTheBitsOfTheWhole) {
  for_each_shared_call([](const OpCall& call, std::int64_t units) {
    for (const std::int64_t parts :
         {std::int64_t{2}, std::int64_t{3}, std::int64_t{7}, std::min(units, std::int64_t{20})})
      expect_parts_of_the_whole(call, parts_of(units, parts));
  });
}

/// Outputs share memory with inputs in this test, and the last part is the first to run.
TEST(OpSharing, GivesTheSameBitsInPlaceInAnyOrder) {
  for_each_shared_call([](const OpCall& call, std::int64_t units) {
    const auto in = testing::input_types(call), out = testing::output_types(call);
    std::vector<Overwrite> pairs = call.op->overwrites;
    for (const Update& pair : call.op->updates) pairs.push_back({pair.input, pair.output});
    std::vector<Part> backwards = parts_of(units, 3);
    std::ranges::reverse(backwards);
    for (const Overwrite& pair : pairs) {
      const auto input = static_cast<std::size_t>(pair.input);
      const auto output = static_cast<std::size_t>(pair.output);
      if (input >= in.size() || in[input].bytes() != out[output].bytes()) continue;
      const auto whole = run(call), shared = run(call, {.in_place = pair, .parts = backwards});
      for (std::size_t i = 0; i < whole.size(); ++i)
        EXPECT_TRUE(same_bits(shared[i], whole[i])) << "output " << i;
    }
  });
}

TEST(OpSharing, IsTriedForEveryOpThatSaysUnits) {
  std::set<std::string_view> shared;
  for_each_shared_call([&](const OpCall& call, std::int64_t) { shared.insert(call.op->name); });
  for (const Op* op : all_ops())
    EXPECT_EQ(shared.contains(op->name), op->units != nullptr)
        << op->name << " is in no sample of several units";
}

}  // namespace
}  // namespace penstock::graph
