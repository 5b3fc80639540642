#include "graph/plan/program.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "graph/ir/op.hpp"
#include "graph/ops/arithmetic/sums.hpp"
#include "graph/ops/movement/rearrange.hpp"
#include "graph/values/memory.hpp"
#include "penstock/error.hpp"
#include "tests/support/allocation_counter.hpp"
#include "tests/support/refusal.hpp"

namespace penstock::graph {
namespace {

const TensorType pair_of_floats{DType::f32, {2}};

/// A Seen is what a probe's kernel was called with.
struct Seen {
  std::vector<const void*> inputs, outputs;
  const void* workspace = nullptr;
  std::size_t workspace_bytes = 0;
  RandomKey random;
  std::int64_t summed = 0;
};
Seen seen;

const Op probe{.name = "probe", .forward = [](const KernelCall& call) {
                 seen = {};
                 for (const Operand& input : call.inputs) seen.inputs.push_back(input.data);
                 for (const Operand& output : call.outputs) seen.outputs.push_back(output.data);
                 seen.workspace = call.workspace.data();
                 seen.workspace_bytes = call.workspace.size();
                 seen.random = call.random;
                 seen.summed = call.summed;
               }};

/// This op computes y = x + 1.
const Op increment{.name = "increment", .forward = [](const KernelCall& call) {
                     for (std::size_t i = 0; i < call.inputs[0].f32().size(); ++i)
                       call.outputs[0].f32()[i] = call.inputs[0].f32()[i] + 1;
                   }};

const Op refuses{.name = "refuses", .forward = [](const KernelCall&) {
                   throw Error(Errc::invalid_data, "label 12 of sample 3");
                 }};

const Op breaks{.name = "breaks",
                .forward = [](const KernelCall&) { throw std::runtime_error("no luck"); }};

Instruction instruction(const Op& op, std::vector<Location> inputs, std::vector<Location> outputs) {
  return {.name = "node",
          .name_hash = 77,
          .op = &op,
          .input_types = std::vector<TensorType>(inputs.size(), pair_of_floats),
          .output_types = std::vector<TensorType>(outputs.size(), pair_of_floats),
          .inputs = std::move(inputs),
          .outputs = std::move(outputs)};
}

/// A Memory has memory for every space, and binds it to a program.
struct Memory {
  std::vector<std::shared_ptr<std::byte>> blocks;
  std::vector<const std::byte*> received;
  std::vector<std::byte*> sent_back;

  Memory() {
    for (int i = 0; i < 8; ++i) blocks.push_back(allocate_block(256));
    received = {blocks[4].get(), blocks[5].get()};
    sent_back = {blocks[6].get(), blocks[7].get()};
  }
  Bindings bindings() const {
    return {.parameters = blocks[0].get(),
            .accumulators = blocks[1].get(),
            .stash = blocks[2].get(),
            .scratch = blocks[3].get(),
            .received = received,
            .sent_back = sent_back,
            .random = {.seed = 1, .update = 2, .replica = 3, .micro_batch = 4},
            .summed = 5};
  }
};

TEST(Program, FindsEverySpace) {
  const Memory memory;
  run({.instructions = {instruction(
           probe, {{Space::parameters, 0, 64}, {Space::received, 1, 0}, {Space::stash, 0, 128}},
           {{Space::accumulators, 0, 0}, {Space::scratch, 0, 64}, {Space::sent_back, 1, 0}})}},
      memory.bindings());
  const auto at = [&](std::size_t block, std::size_t offset) -> const void* {
    return memory.blocks[block].get() + offset;
  };
  EXPECT_EQ(seen.inputs, (std::vector{at(0, 64), at(5, 0), at(2, 128)}));
  EXPECT_EQ(seen.outputs, (std::vector{at(1, 0), at(3, 64), at(7, 0)}));
}

// 4.3 of docs/reference.md: a sum in the host store comes into the workspace, a piece at a time.
TEST(Program, AddsToASumInTheHostStoreInPieces) {
  constexpr std::int64_t elements = 10'001;
  struct Row {
    std::int32_t parts;
    std::int64_t pieces;
    bool running;
    std::int32_t in = 1;  ///< Each part runs in this many pieces.
  };
  // The last row has two parts that run in two pieces each. These need as many pieces of the sum as
  // four parts would.
  for (const Row& row : {Row{1, 3, false}, Row{1, 3, true}, Row{3, 3, false}, Row{2, 4, true},
                         Row{2, 4, false, 2}}) {
    const TensorType type{DType::f32, {elements}};
    const auto bytes = static_cast<std::size_t>(type.bytes());
    std::shared_ptr<std::byte> blocks[] = {allocate_block(bytes), allocate_block(bytes),
                                           allocate_block(bytes), allocate_block(3 * 16384)};
    for (std::int64_t i = 0; i < elements; ++i)
      for (const int block : {0, 1, 2})
        reinterpret_cast<float*>(blocks[block].get())[i] =
            (block == 2 ? 0.3f : 1.7f) * static_cast<float>(i);
    Instruction sum{
        .name = "sum",
        .op = &accumulate,
        .input_types = {type, type},
        .output_types = {type},
        .inputs = {{Space::host_accumulators, 0, 0}, {Space::stash, 0, 0}},
        .outputs = {{Space::host_accumulators, 0, 0}},
        .workspace_bytes = 16384,
        .sharing = {.units = (elements + 15) / 16, .parts = row.parts, .pieces = row.in}};
    if (row.running) sum.attributes.set("running", std::int64_t{1});
    Instruction kept = sum;
    kept.inputs[0] = kept.outputs[0] = {Space::accumulators, 0, 0};
    Moves moved;
    Heartbeat heartbeat;
    const OffloadReport& moves = moved.accumulators;
    run({.instructions = {sum, kept}}, {.accumulators = blocks[0].get(),
                                        .host_accumulators = blocks[1].get(),
                                        .stash = blocks[2].get(),
                                        .scratch = blocks[3].get(),
                                        .summed = 2,
                                        .moves = &moved,
                                        .heartbeat = &heartbeat});
    EXPECT_GE(heartbeat.beats(), static_cast<std::uint64_t>(2 + row.pieces)) << "with each piece";
    EXPECT_EQ(std::memcmp(blocks[0].get(), blocks[1].get(), bytes), 0) << row.parts;
    for (std::int64_t i = 0; i < elements; ++i)
      ASSERT_FLOAT_EQ(reinterpret_cast<float*>(blocks[0].get())[i],
                      (row.running ? 1.7f * 2 / 3 + 0.3f / 3 : 2.0f) * static_cast<float>(i));
    EXPECT_EQ(moves.loads, static_cast<std::uint64_t>(row.pieces)) << row.parts;
    EXPECT_EQ(moves.stores, static_cast<std::uint64_t>(row.pieces)) << row.parts;
    EXPECT_EQ(moves.loaded_bytes, type.bytes());
    EXPECT_EQ(moves.stored_bytes, type.bytes());
  }
}

TEST(Program, BeginsASumWithTheFirstGradientOfAWindow) {
  const TensorType type{DType::f32, {16}};
  std::shared_ptr<std::byte> sums = allocate_block(64), gradients = allocate_block(64),
                             scratch = allocate_block(64);
  auto* const sum = reinterpret_cast<float*>(sums.get());
  sum[3] = 7;
  reinterpret_cast<float*>(gradients.get())[3] = 1.5f;
  Instruction gradient{.name = "gradient",
                       .op = &identity,
                       .input_types = {type},
                       .output_types = {type},
                       .inputs = {{Space::stash, 0, 0}},
                       .outputs = {{Space::scratch, 0, 0}}};
  Instruction add{.name = "sum",
                  .op = &accumulate,
                  .input_types = {type, type},
                  .output_types = {type},
                  .inputs = {{Space::accumulators, 0, 0}, {Space::scratch, 0, 0}},
                  .outputs = {{Space::accumulators, 0, 0}}};
  const auto run_for = [&](std::int64_t summed) {
    run({.instructions = {gradient, add}}, {.accumulators = sums.get(),
                                            .stash = gradients.get(),
                                            .scratch = scratch.get(),
                                            .summed = summed});
    return sum[3];
  };
  EXPECT_EQ(run_for(0), 1.5f) << "the instruction that adds sets the sum";
  EXPECT_EQ(run_for(1), 3);
  gradient.first_outputs = {{Space::accumulators, 0, 0}};
  add.in_first = false;
  EXPECT_EQ(run_for(0), 1.5f) << "the gradient is computed where its sum lies";
  EXPECT_EQ(run_for(1), 3);
}

TEST(Program, CountsTransfersByTheirDirection) {
  const TensorType type{DType::f32, {16}};
  std::shared_ptr<std::byte> host = allocate_block(64), scratch = allocate_block(64);
  Instruction load{.name = "x/load",
                   .op = &identity,
                   .input_types = {type},
                   .output_types = {type},
                   .inputs = {{Space::host_stash, 0, 0}},
                   .outputs = {{Space::scratch, 0, 0}},
                   .transfer = Transfer::load};
  Instruction store = load;
  std::swap(store.inputs, store.outputs);
  store.transfer = Transfer::store;
  Moves moves;
  run({.instructions = {load, load, store}},
      {.host_stash = host.get(), .scratch = scratch.get(), .moves = &moves});
  EXPECT_EQ(moves.activations.loads, 2u);
  EXPECT_EQ(moves.activations.loaded_bytes, 128);
  EXPECT_EQ(moves.activations.stores, 1u);
  EXPECT_EQ(moves.activations.stored_bytes, 64);
  EXPECT_EQ(moves.accumulators.loads, 0u);
}

TEST(Program, GivesEachCallItsWorkspaceAndItsKey) {
  const Memory memory;
  Program program{.instructions = {instruction(probe, {}, {})}};
  program.instructions[0].workspace_offset = 64;
  program.instructions[0].workspace_bytes = 100;
  run(program, memory.bindings());
  EXPECT_EQ(seen.workspace, memory.blocks[3].get() + 64);
  EXPECT_EQ(seen.workspace_bytes, 100u);
  EXPECT_EQ(seen.random.name, 77u);
  EXPECT_EQ(seen.random.seed, 1u);
  EXPECT_EQ(seen.random.update, 2u);
  EXPECT_EQ(seen.random.replica, 3u);
  EXPECT_EQ(seen.random.micro_batch, 4u);
  EXPECT_EQ(seen.summed, 5);
}

TEST(Program, RunsItsInstructionsInOrder) {
  const Memory memory;
  const Location a{Space::stash, 0, 0}, b{Space::scratch, 0, 0};
  run({.instructions = {instruction(increment, {a}, {b}), instruction(increment, {b}, {b}),
                        instruction(increment, {b}, {a})}},
      memory.bindings());
  EXPECT_EQ(*reinterpret_cast<const float*>(memory.blocks[2].get()), 3);
}

TEST(Program, TakesNothingFromTheHeapOnceItHasRun) {
  const Memory memory;
  const Location a{Space::stash, 0, 0}, b{Space::scratch, 0, 0};
  const Program program{
      .instructions = {instruction(increment, {a}, {b}), instruction(increment, {b, a, a}, {a})}};
  run(program, memory.bindings());
  const auto before = testing::heap_allocations();
  for (int i = 0; i < 10; ++i) run(program, memory.bindings());
  EXPECT_EQ(testing::heap_allocations(), before);
}

TEST(Program, BeatsWithEachInstructionAndSaysWhichOneRuns) {
  static Heartbeat* heart;
  static std::vector<std::pair<std::uint64_t, std::string>> told;
  const Op listens{.name = "listens", .forward = [](const KernelCall&) {
                     told.emplace_back(heart->beats(), heart->instruction()->name);
                   }};
  Heartbeat heartbeat;
  heart = &heartbeat;
  Program program{.instructions = {instruction(listens, {}, {}), instruction(listens, {}, {})}};
  program.instructions[1].name = "second";
  const Memory memory;
  Bindings bindings = memory.bindings();
  bindings.heartbeat = &heartbeat;
  run(program, bindings);
  ASSERT_EQ(told.size(), 2u);
  EXPECT_EQ(told[0].second, "node");
  EXPECT_EQ(told[1].second, "second");
  EXPECT_GT(told[1].first, told[0].first);
}

TEST(AllocationCounter, Counts) {
  const auto before = testing::heap_allocations();
  const auto block = allocate_block(64);
  EXPECT_GT(testing::heap_allocations(), before);
}

/// A SeenPart is what one part of a shared instruction was called with.
struct SeenPart {
  Part part;
  const void* workspace;
  std::size_t workspace_bytes;
};
std::vector<SeenPart> seen_parts;

const Op shared_probe{
    .name = "shared_probe", .forward = [](const KernelCall& call) {
      seen_parts.push_back({call.part, call.workspace.data(), call.workspace.size()});
    }};

Program shared_program(const Op& op) {
  Program program{.instructions = {instruction(op, {}, {})}};
  program.instructions[0].workspace_offset = 64;
  program.instructions[0].workspace_bytes = 20;
  program.instructions[0].sharing = {.units = 7, .parts = 2};
  return program;
}

/// A BackwardRunner runs the parts in reverse order.
struct BackwardRunner : PartRunner {
  void run(std::int32_t parts, const std::function<void(std::int32_t)>& work) override {
    for (std::int32_t part = parts; part-- > 0;) work(part);
  }
};

TEST(Program, RunsPartsInPiecesAndBeatsAfterEach) {
  static Heartbeat* heart;
  static std::vector<std::uint64_t> beats;
  const Op listens{.name = "listens", .forward = [](const KernelCall& call) {
                     beats.push_back(heart->beats());
                     seen_parts.push_back({call.part, call.workspace.data(), 0});
                   }};
  for (const std::int32_t parts : {1, 2}) {
    Heartbeat heartbeat;
    heart = &heartbeat;
    beats.clear();
    seen_parts.clear();
    Program program{.instructions = {instruction(listens, {}, {})}};
    program.instructions[0].workspace_bytes = 20;
    program.instructions[0].sharing = {.units = 12, .parts = parts, .pieces = 3};
    BackwardRunner runner;
    const Memory memory;
    Bindings bindings = memory.bindings();
    bindings.heartbeat = &heartbeat;
    bindings.runner = &runner;
    run(program, bindings);
    const auto count = static_cast<std::size_t>(3 * parts);
    ASSERT_EQ(seen_parts.size(), count);
    const std::int64_t units = 12 / std::ssize(seen_parts);
    for (std::size_t i = 0; i < count; ++i) {
      // If there are two parts, the pieces of the second one come first, in a workspace of their
      // own.
      const std::size_t piece = parts == 1 ? i : (i + 3) % 6;
      EXPECT_EQ(seen_parts[i].part.begin, units * static_cast<std::int64_t>(piece));
      EXPECT_EQ(seen_parts[i].part.end, units * static_cast<std::int64_t>(piece + 1));
      EXPECT_EQ(seen_parts[i].workspace, memory.blocks[3].get() + 64 * (piece / 3));
      EXPECT_GT(beats[i], i > 0 ? beats[i - 1] : 0u);
    }
    EXPECT_GT(heartbeat.beats(), beats.back());
  }
}

TEST(Program, GivesEachPartItsUnitsAndAWorkspaceOfItsOwn) {
  const Memory memory;
  seen_parts.clear();
  run(shared_program(shared_probe), memory.bindings());
  ASSERT_EQ(seen_parts.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(seen_parts[i].part.begin, i == 0 ? 0 : 3);
    EXPECT_EQ(seen_parts[i].part.end, i == 0 ? 3 : 7);
    EXPECT_EQ(seen_parts[i].workspace, memory.blocks[3].get() + 64 * (i + 1));
    EXPECT_EQ(seen_parts[i].workspace_bytes, 20u);
  }
}

/// A ReverseRunner runs the parts in reverse order.
struct ReverseRunner : PartRunner {
  void run(std::int32_t parts, const std::function<void(std::int32_t)>& work) override {
    for (std::int32_t part = parts; part-- > 0;) work(part);
  }
};

TEST(Program, LeavesItToTheRunnerWhenPartsRun) {
  const Memory memory;
  ReverseRunner runner;
  Bindings bindings = memory.bindings();
  bindings.runner = &runner;
  seen_parts.clear();
  run(shared_program(shared_probe), bindings);
  ASSERT_EQ(seen_parts.size(), 2u);
  EXPECT_EQ(seen_parts[0].part.begin, 3);
  EXPECT_EQ(seen_parts[1].part.begin, 0);
}

TEST(Program, NamesOpAndNodeOfWhichAPartFailed) {
  const Memory memory;
  EXPECT_EQ(testing::refusal(Errc::invalid_data,
                             [&] { run(shared_program(refuses), memory.bindings()); }),
            "refuses \"node\": label 12 of sample 3");
}

std::string failure_of(const Op& op, Errc code) {
  const Memory memory;
  const Program program{.instructions = {instruction(op, {}, {})}};
  return testing::refusal(code, [&] { run(program, memory.bindings()); });
}

TEST(Program, NamesOpAndNodeThatFailed) {
  EXPECT_EQ(failure_of(refuses, Errc::invalid_data), "refuses \"node\": label 12 of sample 3");
  EXPECT_EQ(failure_of(breaks, Errc::internal), "breaks \"node\": no luck");
}

}  // namespace
}  // namespace penstock::graph
