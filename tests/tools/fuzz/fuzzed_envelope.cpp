#include "tests/tools/fuzz/fuzzed_envelope.hpp"

#include <array>
#include <cstdint>
#include <stdexcept>

#include "actors/messages/envelope.hpp"

namespace penstock::testing {
namespace {

using namespace actors;

std::vector<std::string> envelopes() {
  const Tensor tensor({2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor truths({2}, std::array<bool, 2>{true, false});
  const UpdateNorms norms{{{4, 0.5}}, {{5, {{1}, {2, 3}, {4}}}}};
  const UpdateRules rules{.variables = {{&graph::find_optimizer_rule("lamb"), {}}, {}},
                          .schedule = LearningRateSchedule::cosine(9).after_warm_up(4)};
  return {encode({{Role::stage, 1, 2}, EdgeTensor{5, 6, tensor}}),
          encode({{Role::stage, 0, 1}, EdgeTensor{1, 2, truths}}),
          encode({{Role::stage, 0, 1}, TurnNear{{Direction::backward, 7}}}),
          encode({{Role::step}, StageOutputs{1, 2, 3, TensorList({tensor, Tensor({}, {3})})}}),
          encode({{Role::step}, UpdateApplied{1, 2}}),
          encode({{Role::feed}, Credit{1}}),
          encode({{Role::gate}, RoundDone{UpdateRound::measure, 1, 2, norms}}),
          encode({{Role::part}, NewRules{rules}}),
          encode({{Role::optimizer, 1, 2}, UpdateOrder{UpdateRound::apply, 0.5, {1, 2, 3}}}),
          encode({{Role::supervisor}, Failed{{Errc::stage_failed, "stage 2: failed", true}}}),
          encode({{Role::supervisor}, WaitsFor{9, {"gate", "waits", {{"a"}, {}}, 77}}})};
}

/// Returns an envelope whose list of tensors announces `items` tensors that are not there.
std::string announcing(std::uint64_t items) {
  std::string bytes = encode({{Role::step}, StageOutputs{1, 2, 3}});
  return bytes.replace(bytes.size() - sizeof items, sizeof items,
                       reinterpret_cast<const char*>(&items), sizeof items);
}

}  // namespace

FuzzedReader fuzzed_envelope() {
  return {.name = "envelope",
          .seeds = envelopes(),
          .read =
              [](const std::string& bytes) {
                if (encode(decode(bytes)) != bytes)
                  throw std::logic_error("other bytes come out than went in");
              },
          .hostile = {"", "\1", announcing(1), announcing(1 << 20), announcing(1ULL << 63)}};
}

}  // namespace penstock::testing
