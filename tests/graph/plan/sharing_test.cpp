#include "graph/plan/sharing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "graph/compile/compile.hpp"
#include "graph/plan/program.hpp"
#include "penstock/error.hpp"
#include "tests/support/plan_runner.hpp"
#include "tests/support/random_network.hpp"
#include "tests/support/same_bits.hpp"

namespace penstock::graph {
namespace {

/// Returns how an op with `units` units and `flops` operations is shared among `threads` threads.
Sharing shared(std::int64_t units, double flops, std::int32_t threads) {
  static std::int64_t units_now;
  static double flops_now;
  units_now = units;
  flops_now = flops;
  const Op op{.name = "op",
              .cost = [](const Attributes&, Types, Types) { return Cost{.flops = flops_now}; },
              .units = [](const Attributes&, Types, Types) { return units_now; }};
  return share_out(op, {}, {}, {}, threads);
}

TEST(ShareOut, MakesAPartForEachThreadOfAnythingLong) {
  EXPECT_EQ(shared(100, 1e9, 1).parts, 1);
  EXPECT_EQ(shared(100, 1e9, 2).parts, 2);
  EXPECT_EQ(shared(100, 1e9, 2).units, 100);
  EXPECT_EQ(shared(100, 1e300, 7).parts, 7);
}

TEST(ShareOut, MakesNoMorePartsThanThereAreUnits) {
  EXPECT_EQ(shared(3, 1e9, 8).parts, 3);
  EXPECT_EQ(shared(1, 1e9, 8).parts, 1);
  EXPECT_EQ(shared(0, 1e9, 8).parts, 1);
}

TEST(ShareOut, LeavesWhatIsShortToFewerThreads) {
  EXPECT_EQ(shared(100, 0, 8).parts, 1);
  EXPECT_EQ(shared(100, 1e5, 8).parts, 1);
  const Sharing some = shared(100, 2e6, 1000);
  EXPECT_GT(some.parts, 1);
  EXPECT_LT(some.parts, 100);
}

TEST(ShareOut, LeavesOpsWithoutUnitsAlone) {
  const Op op{.name = "op",
              .cost = [](const Attributes&, Types, Types) { return Cost{.flops = 1e9}; }};
  EXPECT_EQ(share_out(op, {}, {}, {}, 8).parts, 1);
}

TEST(ShareOut, RunsPartsOfVeryLongWorkInPiecesOnOneThreadToo) {
  EXPECT_EQ(shared(100, 9e9, 1).pieces, 1);
  EXPECT_EQ(shared(100, 5e10, 1).parts, 1);
  EXPECT_EQ(shared(100, 5e10, 1).pieces, 5);
  EXPECT_EQ(shared(100, 5e10, 2).parts, 2);
  EXPECT_EQ(shared(100, 5e10, 2).pieces, 2);
  EXPECT_EQ(shared(3, 1e300, 1).pieces, 3) << "no more than there are units";
}

TEST(PieceOf, DealsOutEveryUnitOnceAndEqually) {
  for (const std::int32_t parts : {1, 2, 3, 7})
    for (const std::int32_t pieces : {1, 2, 3}) {
      const Sharing sharing{.units = 22, .parts = parts, .pieces = pieces};
      std::int64_t next = 0;
      for (std::int32_t number = 0; number < parts * pieces; ++number) {
        const Part part = piece_of(sharing, number);
        EXPECT_EQ(part.begin, next);
        EXPECT_NEAR(static_cast<double>(part.end - part.begin), 22.0 / (parts * pieces), 1);
        next = part.end;
      }
      EXPECT_EQ(next, 22);
    }
}

TEST(Part, EndsWhereTheElementsDo) {
  EXPECT_EQ(elements_of({1, 3}, 16, 40).begin, 16);
  EXPECT_EQ(elements_of({1, 3}, 16, 40).end, 40);
  EXPECT_EQ(elements_of({}, 16, 40).begin, 0);
  EXPECT_EQ(elements_of({}, 16, 40).end, 40);
  EXPECT_EQ(elements_of({}, 16, 0).end, 0);
}

std::ptrdiff_t shared_instructions(const Plan& plan) {
  std::ptrdiff_t count = 0;
  for (const StagePlan& stage : plan.stages)
    for (const Program* program : {&stage.forward, &stage.backward})
      count += std::ranges::count_if(program->instructions, [](const Instruction& instruction) {
        return instruction.sharing.parts > 1;
      });
  return count;
}

/// Returns a request for micro-batches so large that elementwise work is worth sharing.
CompileRequest large(std::int32_t threads) {
  return {
      .training = true, .batch = 20'000, .gradient_accumulation = 16, .threads_per_ipu = threads};
}

TEST(Sharing, DoesNotChangeABitOfAPlansResults) {
  for (const std::uint64_t seed : {1, 2}) {
    const testing::ModelBuilder model = testing::random_network(seed);
    const Plan alone = compile(model.graph(), large(1)).plan;
    const auto inputs = testing::random_inputs(alone, 1);
    const auto expected = testing::window_results(alone, inputs);
    EXPECT_EQ(shared_instructions(alone), 0);
    for (const std::int32_t threads : {2, 3}) {
      const Plan plan = compile(model.graph(), large(threads)).plan;
      EXPECT_GT(shared_instructions(plan), 0);
      const auto results = testing::window_results(plan, inputs);
      ASSERT_EQ(results.size(), expected.size());
      for (std::size_t i = 0; i < results.size(); ++i)
        EXPECT_TRUE(testing::same_bits(results[i], expected[i]))
            << "result " << i << ", " << threads << " threads";
    }
  }
}

/// A KernelRuns says how the kernel of one instruction was run.
struct KernelRuns {
  void (*forward)(const KernelCall&) = nullptr;
  std::int64_t calls = 0;
  std::int64_t units = 0;  ///< This is the number of units of all calls together.
  std::set<std::thread::id> threads = {};
};
std::mutex runs_mutex;
std::vector<KernelRuns> runs;

/// The attribute of this name has the number of an instruction in `runs`.
constexpr std::string_view run_number = "run_number";

void run_counted(const KernelCall& call) {
  void (*forward)(const KernelCall&) = nullptr;
  {
    const std::lock_guard lock(runs_mutex);
    KernelRuns& own = runs[static_cast<std::size_t>(call.attributes.integer(run_number))];
    ++own.calls;
    own.units += call.part.end - call.part.begin;
    own.threads.insert(std::this_thread::get_id());
    forward = own.forward;
  }
  forward(call);
}

/// An InPieces has a plan in which long instructions run in pieces, and the ops that count how they
/// run.
struct InPieces {
  Plan plan;
  std::deque<Op> ops = {};
  std::vector<Sharing> sharings = {};  ///< This is the sharing of each instruction in `runs`.
};

/// Returns `plan` with those instructions in five pieces per part, as if they were very long, that
/// have `parts` parts and enough units.
InPieces in_pieces(const Plan& plan, std::int32_t parts) {
  InPieces result{plan};
  runs.clear();
  for (StagePlan& stage : result.plan.stages)
    for (Program* program : {&stage.forward, &stage.backward})
      for (Instruction& one : program->instructions) {
        if (!one.op->units || one.sharing.parts != parts) continue;
        const std::int64_t units = one.op->units(one.attributes, one.input_types, one.output_types);
        if (units < 5 * parts) continue;
        one.sharing = {.units = units, .parts = parts, .pieces = 5};
        one.attributes.set(std::string(run_number), std::ssize(runs));
        runs.push_back({.forward = one.op->forward});
        result.sharings.push_back(one.sharing);
        Op& counted = result.ops.emplace_back(*one.op);
        counted.forward = run_counted;
        one.op = &counted;
      }
  return result;
}

/// A ThreadPerPart runs each part on a thread of its own.
struct ThreadPerPart : PartRunner {
  void run(std::int32_t parts, const std::function<void(std::int32_t)>& work) override {
    std::vector<std::jthread> threads;
    for (std::int32_t part = 0; part < parts; ++part)
      threads.emplace_back([&, part] { work(part); });
  }
};

TEST(Sharing, InPiecesDoesNotChangeABitEither) {
  const testing::ModelBuilder model = testing::random_network(1);
  for (const std::int32_t threads : {1, 2}) {
    SCOPED_TRACE(std::to_string(threads) + " threads");
    const Plan plan = compile(model.graph(), large(threads)).plan;
    const auto inputs = testing::random_inputs(plan, 1);
    const auto expected = testing::window_results(plan, inputs);
    const InPieces divided = in_pieces(plan, threads);
    ThreadPerPart parts;
    const auto results = testing::window_results(divided.plan, inputs, &parts);
    ASSERT_GT(runs.size(), 5U);
    for (std::size_t i = 0; i < runs.size(); ++i) {
      EXPECT_EQ(runs[i].calls, 5 * threads) << divided.ops[i].name;
      EXPECT_EQ(runs[i].units, divided.sharings[i].units) << divided.ops[i].name;
      EXPECT_EQ(std::ssize(runs[i].threads), threads) << divided.ops[i].name;
    }
    ASSERT_EQ(results.size(), expected.size());
    for (std::size_t i = 0; i < results.size(); ++i)
      EXPECT_TRUE(testing::same_bits(results[i], expected[i])) << "result " << i;
  }
}

std::int32_t threads_of(CompileRequest request) {
  request.training = true;
  const Compiled compiled = compile(testing::random_network(1).graph(), request);
  EXPECT_EQ(compiled.report.threads_per_ipu, compiled.plan.threads_per_ipu);
  return compiled.plan.threads_per_ipu;
}

TEST(ThreadsPerIpu, AreTheCoresDividedAmongTheIpusInUseUnlessAskedFor) {
  const std::vector<StageRequest> one{{{"B0", "B1", "B2", "B3"}}};
  EXPECT_EQ(threads_of({.stages = one, .threads_per_ipu = 0, .cores = 8}), 8);
  EXPECT_EQ(threads_of({.stages = one, .replicas = 3, .threads_per_ipu = 0, .cores = 8}), 2);
  EXPECT_EQ(threads_of({.threads_per_ipu = 0, .cores = 8}), 2) << "four stages";
  EXPECT_EQ(
      threads_of(
          {.options = {.topology = {.ipus = {0, 1, 1, 0}}}, .threads_per_ipu = 0, .cores = 8}),
      4);
  EXPECT_EQ(threads_of({.threads_per_ipu = 0, .cores = 3}), 1) << "fewer cores than IPUs";
  EXPECT_EQ(
      threads_of(
          {.options = {.topology = {.automatic_stages = 2}}, .threads_per_ipu = 0, .cores = 8}),
      4);
  EXPECT_EQ(threads_of({.threads_per_ipu = 3, .cores = 2}), 3);
  EXPECT_EQ(threads_of({.stages = one, .threads = 3, .threads_per_ipu = 0, .cores = 8}), 3);
  EXPECT_EQ(threads_of({.stages = one, .threads = 9, .threads_per_ipu = 0, .cores = 8}), 8);
}

/// Returns a plan of a convolution in which each thread packs windows for itself.
Plan convolution_plan(std::int32_t threads, std::int64_t memory_bytes) {
  testing::ModelBuilder model;
  const auto x = model.block("A").input("x", {32, 16, 16});
  const auto weight = model.parameter("weight", {64, 32, 3, 3});
  model.output("y", model.apply("gelu", {model.apply("conv2d", {x, weight})}));
  CompileRequest request{.batch = 64, .threads_per_ipu = threads, .cores = 8};
  request.memory.bytes = memory_bytes;
  return compile(model.graph(), request).plan;
}

/// Returns the least memory, in bytes, with which convolution_plan() is not refused.
std::int64_t bytes_needed(std::int32_t threads) {
  std::int64_t too_little = 0, enough = std::int64_t{1} << 40;
  while (enough - too_little > 1) {
    const std::int64_t middle = (too_little + enough) / 2;
    try {
      convolution_plan(threads, middle);
      enough = middle;
    } catch (const Error&) {
      too_little = middle;
    }
  }
  return enough;
}

TEST(ThreadsPerIpu, AreGivenUpBeforeAPlanIsRefusedUnlessAskedFor) {
  const std::int64_t alone = bytes_needed(1), shared = bytes_needed(8);
  ASSERT_LT(alone, shared);
  EXPECT_EQ(convolution_plan(0, shared).threads_per_ipu, 8);
  EXPECT_LT(convolution_plan(0, shared - 1).threads_per_ipu, 8);
  EXPECT_EQ(convolution_plan(0, alone).threads_per_ipu, 1);
  EXPECT_EQ(bytes_needed(0), alone);
}

std::vector<Note> notes_of(CompileRequest request) {
  request.training = true;
  request.gradient_accumulation = 8;
  return compile(testing::random_network(1).graph(), request).notes;
}

TEST(ThreadsPerIpu, AreWarnedOfIfTheyAreMoreThanTheCores) {
  const auto before = notes_of({});
  const auto added = [&](const CompileRequest& request) {
    const auto now = notes_of(request);
    EXPECT_EQ(now.size(), before.size() + 1);
    return now.empty() ? Note{} : now.front();
  };
  EXPECT_EQ(added({.threads_per_ipu = 3, .cores = 2}),
            (Note{Option::threads_per_ipu,
                  "3 threads of each of 4 IPUs are more than the machine's 2 cores: they take "
                  "turns"}));
  EXPECT_EQ(added({.threads = 5, .cores = 2}),
            (Note{Option::threads,
                  "5 worker threads are more than the machine's 2 cores: they take turns"}));
  EXPECT_EQ(notes_of({.threads = 2, .threads_per_ipu = 1, .cores = 2}), before);
  EXPECT_EQ(notes_of({.threads_per_ipu = 0, .cores = 2}), before);
}

}  // namespace
}  // namespace penstock::graph
