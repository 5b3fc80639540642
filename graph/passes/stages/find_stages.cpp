#include "graph/passes/stages/find_stages.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string>

#include "graph/values/text.hpp"
#include "penstock/error.hpp"

namespace penstock::graph {
namespace {

/// Returns the first node of each block. For a block without a node, returns the first node of the
/// block before it.
std::vector<NodeId> first_nodes(const Graph& model) {
  std::vector<NodeId> first(model.blocks.size(), none);
  for (std::size_t id = 0; id < model.nodes.size(); ++id)
    if (const BlockId block = model.nodes[id].block; block != none && first[index(block)] == none)
      first[index(block)] = static_cast<NodeId>(id);
  for (std::size_t block = 1; block < first.size(); ++block)
    if (first[block] == none) first[block] = first[block - 1];
  return first;
}

std::vector<StageRequest> stage_per_block(const Graph& model) {
  const std::vector<NodeId> first = first_nodes(model);
  std::vector<std::size_t> order(model.blocks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t block) { return first[block]; });
  std::vector<StageRequest> requests;
  for (const std::size_t block : order) requests.push_back({.blocks = {model.blocks[block].name}});
  return requests;
}

/// Returns the stages for which blocks were made, in the order of their numbers, or an empty list
/// if no block was made for a stage. @throws Error invalid_topology if some layers are in no stage,
/// or if a number is missing among those of the stages.
std::vector<StageRequest> numbered_stages(const Graph& model) {
  std::map<std::int32_t, std::string> names;
  for (const Block& block : model.blocks)
    if (block.stage != none) names[block.stage] = block.name;
  if (names.empty()) return {};
  for (const Node& node : model.nodes)
    if (node.block == none || model.blocks[index(node.block)].stage == none)
      throw Error(Errc::invalid_topology,
                  to_string(node) +
                      " is in no pipeline stage; if one layer is given a stage, all have to be");
  std::vector<StageRequest> requests;
  for (const auto& [number, name] : names) {
    if (number != std::ssize(requests))
      throw Error(Errc::invalid_topology, "pipeline stage " + std::to_string(number) +
                                              " is there, but stage " +
                                              std::to_string(requests.size()) + " is not");
    requests.push_back({.blocks = {name}});
  }
  return requests;
}

std::vector<StageRequest> stage_per_ipu(const Graph& model) {
  std::map<std::int32_t, StageRequest> by_ipu;
  for (const Block& block : model.blocks) {
    if (block.ipu == none)
      throw Error(Errc::invalid_topology,
                  "options.topology.stage_rule: same_as_ipu expects an IPU of every block, but "
                  "block " +
                      quoted_text(block.name) + " names none");
    by_ipu[block.ipu].blocks.push_back(block.name);
  }
  std::vector<StageRequest> requests;
  for (auto& [ipu, request] : by_ipu) requests.push_back(std::move(request));
  return requests;
}

void refuse_numbers(const Graph& model, const std::string& field, const std::string& expected,
                    const std::string& got) {
  if (std::ranges::any_of(model.blocks, [](const Block& block) { return block.stage != none; }))
    throw Error(Errc::invalid_argument, field + ": expected " + expected +
                                            ", for the model gives its layers pipeline stages by "
                                            "number, got " +
                                            got);
}

/// Returns the name of the next run of neighbouring nodes of the block `block`. The first run is
/// called `block`; a later run gets a name such as "B1 (2)" that is not in `used`. `number` is the
/// number of the run before, and the function sets it to the number of this run.
std::string name_of_run(const std::string& block, int& number, const std::set<std::string>& used) {
  if (++number == 1) return block;
  const auto numbered = [&] { return block + " (" + std::to_string(number) + ")"; };
  while (used.contains(numbered())) ++number;
  return numbered();
}

}  // namespace

Graph in_runs_of_blocks(Graph model, StageRule rule) {
  if (rule != StageRule::auto_increment) return model;
  std::set<std::string> used;
  for (const Block& block : model.blocks) used.insert(block.name);
  std::vector<Block> runs;
  std::map<BlockId, int> runs_of;
  BlockId before = none;
  for (Node& node : model.nodes) {
    if (node.block == none) continue;
    if (runs.empty() || node.block != before) {
      before = node.block;
      Block& run = runs.emplace_back(model.blocks[index(before)]);
      run.name = name_of_run(run.name, runs_of[before], used);
    }
    node.block = static_cast<BlockId>(runs.size()) - 1;
  }
  model.blocks = std::move(runs);
  return model;
}

void expect_no_stages(const Graph& model, std::int32_t automatic) {
  refuse_numbers(model, "options.topology.automatic_stages", "0", std::to_string(automatic));
}

std::vector<StageRequest> find_stages(const Graph& model, StageRule rule) {
  if (rule != StageRule::by_block)
    refuse_numbers(model, "options.topology.stage_rule", "by_block", std::string(to_string(rule)));
  if (rule == StageRule::by_block)
    if (auto numbered = numbered_stages(model); !numbered.empty()) return numbered;
  auto requests = rule == StageRule::same_as_ipu ? stage_per_ipu(model) : stage_per_block(model);
  if (requests.empty()) requests.emplace_back();
  return requests;
}

}  // namespace penstock::graph
