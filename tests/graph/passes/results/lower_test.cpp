#include "graph/passes/results/lower.hpp"

#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "tests/support/model_builder.hpp"
#include "tests/support/refusal.hpp"

namespace penstock::graph {
namespace {

using testing::ModelBuilder;
using testing::refusal;

/// A Sums has a graph of h = tanh(x); y = h + h; z = y + h. x is received, h is in the stash, and y
/// and z are in scratch.
struct Sums {
  Sums() {
    x = model.input("x", {4});
    h = model.apply("tanh", {x}, {}, "h");
    y = model.apply("add", {h, h}, {}, "y");
    z = model.apply("add", {y, h}, {}, "z");
    placements.resize(model.graph().values.size());
    scratch.of_value.resize(model.graph().values.size());
    scratch.workspaces.resize(3);
    placements[index(x)] = Placement{{.space = Space::received}};
    placements[index(h)] = Placement{{.space = Space::stash, .offset = 64}};
    for (const ValueId value : {y, z}) scratch.of_value[index(value)] = in_scratch(value);
  }
  static Location in_scratch(ValueId value) { return {.offset = 64 * value}; }
  Program lowered(std::vector<NodeId> nodes = {0, 1, 2}) const {
    return lower(model.graph(), nodes, placements, scratch, 1);
  }

  ModelBuilder model;
  ValueId x, h, y, z;
  Placements placements;
  ScratchPlaces scratch;
};

std::vector<std::string> names(const Program& program) {
  std::vector<std::string> result;
  for (const Instruction& one : program.instructions) result.push_back(one.name);
  return result;
}

TEST(Lower, MakesAnInstructionOfEachNodeInOrder) {
  const Sums sums;
  const Program program = sums.lowered();
  EXPECT_EQ(names(program), (std::vector<std::string>{"h", "y", "z"}));
  const Instruction& last = program.instructions[2];
  EXPECT_EQ(last.inputs, (std::vector<Location>{Sums::in_scratch(sums.y),
                                                {.space = Space::stash, .offset = 64}}));
  EXPECT_EQ(last.outputs, std::vector<Location>{Sums::in_scratch(sums.z)});
  EXPECT_EQ(last.input_types.size(), 2U);
  EXPECT_GT(program.cost.flops, 0);
}

TEST(Lower, LoadsACopyOnceBeforeItsFirstReader) {
  Sums sums;
  const Location home{.space = Space::host_stash, .offset = 64}, copy = Sums::in_scratch(sums.h);
  sums.placements[index(sums.h)] = Placement{home, Arrival::copied};
  sums.scratch.of_value[index(sums.h)] = copy;
  sums.scratch.workspaces.resize(2);
  const Program program = sums.lowered({1, 2});
  EXPECT_EQ(names(program), (std::vector<std::string>{"h/load", "y", "z"}));
  const Instruction& load = program.instructions[0];
  EXPECT_EQ(load.transfer, Transfer::load);
  EXPECT_EQ(load.inputs, std::vector<Location>{home});
  EXPECT_EQ(load.outputs, std::vector<Location>{copy});
  EXPECT_EQ(program.instructions[1].inputs, (std::vector<Location>{copy, copy}));
}

TEST(Lower, StoresACopyBehindTheNodeThatComputesIt) {
  Sums sums;
  const Location home{.space = Space::host_stash}, copy = Sums::in_scratch(sums.h);
  sums.placements[index(sums.h)] = Placement{home, Arrival::copied};
  sums.scratch.of_value[index(sums.h)] = copy;
  const Program program = sums.lowered();
  EXPECT_EQ(names(program), (std::vector<std::string>{"h", "h/store", "y", "z"}))
      << "it is there already for its readers";
  EXPECT_EQ(program.instructions[1].transfer, Transfer::store);
  EXPECT_EQ(program.instructions[1].inputs, std::vector<Location>{copy});
  EXPECT_EQ(program.instructions[1].outputs, std::vector<Location>{home});
}

TEST(Lower, GivesANodeItsWorkspace) {
  Sums sums;
  sums.scratch.workspaces[1] = {.offset = 640, .bytes = 100};
  const Program program = sums.lowered();
  EXPECT_EQ(program.instructions[1].workspace_offset, 640);
  EXPECT_EQ(program.instructions[1].workspace_bytes, 100);
  EXPECT_EQ(program.instructions[2].workspace_bytes, 0);
}

TEST(Lower, ComputesTheFirstGradientOfAWindowWhereItsSumLies) {
  Sums sums;
  std::vector<ParameterGradient> gradients;
  for (const ValueId gradient : {sums.z, sums.y, sums.h}) {
    const ValueId total = sums.model.input("total " + std::to_string(gradient), {4});
    const ValueId next = sums.model.apply("accumulate", {total, gradient});
    gradients.push_back({.gradient = gradient, .sum = total});
    sums.placements.resize(index(next) + 1);
    sums.scratch.of_value.resize(index(next) + 1);
    sums.scratch.workspaces.emplace_back();
    sums.placements[index(total)] = sums.placements[index(next)] =
        Placement{{.space = Space::accumulators, .offset = 128}};
  }
  Graph graph = sums.model.graph();
  graph.parameter_gradients = gradients;
  const Program program =
      lower(graph, std::vector<NodeId>{0, 1, 2, 3, 4, 5}, sums.placements, sums.scratch, 1);
  const auto& [h, y, z, add_z, add_y, add_h] =
      std::tie(program.instructions[0], program.instructions[1], program.instructions[2],
               program.instructions[3], program.instructions[4], program.instructions[5]);
  EXPECT_EQ(z.first_outputs,
            (std::vector<Location>{{.space = Space::accumulators, .offset = 128}}));
  EXPECT_FALSE(add_z.in_first);
  EXPECT_TRUE(y.first_outputs.empty()) << "z is computed from y, too";
  EXPECT_TRUE(add_y.in_first);
  EXPECT_TRUE(h.first_outputs.empty()) << "h stays in the stash";
  EXPECT_TRUE(add_h.in_first);
}

TEST(Lower, RefusesAValueThatHasNoPlace) {
  Sums sums;
  sums.scratch.of_value[index(sums.y)].reset();
  EXPECT_EQ(refusal(Errc::internal, [&] { sums.lowered(); }), "\"y\" has no place");
}

TEST(Lower, AppendsACopy) {
  const Sums sums;
  Program program = sums.lowered();
  const Location target{.space = Space::sent_back};
  append_copy(sums.model.graph(), sums.z, Sums::in_scratch(sums.z), target, program);
  const Instruction& copy = program.instructions.back();
  EXPECT_EQ(copy.name, "z/copy");
  EXPECT_EQ(copy.outputs, std::vector<Location>{target});
  EXPECT_EQ(copy.transfer, Transfer::none);
}

}  // namespace
}  // namespace penstock::graph
