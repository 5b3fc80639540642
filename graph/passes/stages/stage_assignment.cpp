#include "graph/passes/stages/stage_assignment.hpp"

#include <algorithm>
#include <string>

#include "graph/ir/op.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"

namespace penstock::graph {
namespace {

[[noreturn]] void refuse(const std::string& text) {
  throw Error(Errc::invalid_topology, text);
}

std::string number(std::size_t stage) {
  return "stage " + std::to_string(stage);
}

std::string blocks_of(const Graph& model) {
  if (model.blocks.empty()) return "the model has no blocks";
  return "the model has " +
         joined(model.blocks, [](const Block& block) { return quoted_text(block.name); });
}

/// Returns the stage of every block, or `none` for a block that is in no stage.
std::vector<std::int32_t> stage_of_blocks(const Graph& model,
                                          const std::vector<StageRequest>& requests) {
  std::vector<std::int32_t> stage_of(model.blocks.size(), none);
  for (std::size_t stage = 0; stage < requests.size(); ++stage) {
    if (requests[stage].blocks.empty() && !model.blocks.empty())
      refuse(number(stage) + " has no block");
    for (const std::string& name : requests[stage].blocks) {
      const auto block = std::ranges::find(model.blocks, name, &Block::name);
      if (block == model.blocks.end())
        refuse(number(stage) + ": there is no block " + quoted_text(name) + "; " +
               blocks_of(model));
      auto& of = stage_of[static_cast<std::size_t>(block - model.blocks.begin())];
      if (of != none)
        refuse("block " + quoted_text(name) + " is in " + number(index(of)) +
               (index(of) == stage ? " twice" : " and in " + number(stage)));
      of = static_cast<std::int32_t>(stage);
    }
  }
  return stage_of;
}

void refuse_nodes_without_stage(const Graph& model, const std::vector<std::int32_t>& stage_of) {
  if (model.blocks.empty()) return;
  for (const Node& node : model.nodes) {
    if (node.block == none)
      refuse(to_string(node) + " belongs to no block; in a model with blocks every layer must");
    if (stage_of[index(node.block)] == none)
      refuse("block " + quoted_text(model.blocks[index(node.block)].name) + " is in no stage");
  }
}

/// Returns the stages as a text such as "B1,B2|B3,B4".
std::string notation(const std::vector<StageRequest>& requests) {
  const auto blocks = [](const StageRequest& request) { return joined(request.blocks, {}, ","); };
  const std::string text = joined(requests, blocks, "|");
  return text.empty() ? "a model without blocks is one" : text;
}

void check_ipus(const std::vector<StageRequest>& requests, const std::vector<std::int32_t>& ipus) {
  if (!ipus.empty() && ipus.size() != requests.size())
    refuse("options.topology.ipus: expected one IPU per stage, " + std::to_string(requests.size()) +
           " (" + notation(requests) + "), got " + std::to_string(ipus.size()));
  const auto refuse_negative = [](std::size_t stage, std::int32_t ipu) {
    throw Error(Errc::invalid_argument,
                number(stage) + ": an IPU's number is 0 or more, got " + std::to_string(ipu));
  };
  for (std::size_t stage = 0; stage < requests.size(); ++stage) {
    if (!ipus.empty() && ipus[stage] < 0) refuse_negative(stage, ipus[stage]);
    if (requests[stage].ipu < none) refuse_negative(stage, requests[stage].ipu);
  }
}

/// Returns the IPU that the blocks of stage number `stage` ask for, or `none` if no block asks for
/// one.
std::int32_t ipu_of_blocks(const Graph& model, const StageRequest& request, std::size_t stage) {
  const Block* first = nullptr;
  for (const std::string& name : request.blocks) {
    const Block& block = *std::ranges::find(model.blocks, name, &Block::name);
    if (block.ipu == none) continue;
    if (!first) first = &block;
    if (block.ipu != first->ipu)
      refuse(number(stage) + ": block " + quoted_text(first->name) + " asks for IPU " +
             std::to_string(first->ipu) + " and block " + quoted_text(name) + " for IPU " +
             std::to_string(block.ipu) + "; say which one the stage is on");
  }
  return first ? first->ipu : none;
}

std::vector<StagePlacement> placed(const Graph& model, const std::vector<StageRequest>& requests,
                                   const std::vector<std::int32_t>& ipus) {
  std::vector<StagePlacement> stages;
  for (std::size_t stage = 0; stage < requests.size(); ++stage) {
    std::int32_t ipu = requests[stage].ipu;
    if (ipu == none && !ipus.empty()) ipu = ipus[stage];
    if (ipu == none) ipu = ipu_of_blocks(model, requests[stage], stage);
    if (ipu == none) ipu = requests[stage].default_ipu;
    if (ipu == none) ipu = static_cast<std::int32_t>(stage);
    stages.push_back(
        {.blocks = requests[stage].blocks, .ipu = ipu, .phase = requests[stage].phase});
  }
  return stages;
}

/// Removes stage number `stage`, which has no node, from `assignment`.
void leave_out(StageAssignment& assignment, std::size_t stage) {
  assignment.stages.erase(assignment.stages.begin() + static_cast<std::ptrdiff_t>(stage));
  for (std::int32_t& of : assignment.of_block) {
    if (of == static_cast<std::int32_t>(stage)) of = none;
    if (of > static_cast<std::int32_t>(stage)) --of;
  }
}

void settle_idle_stages(const Graph& model, bool training, StageAssignment& assignment) {
  std::vector<bool> busy(assignment.stages.size());
  for (const Node& node : model.nodes) busy[index(assignment.of(node))] = true;
  for (std::size_t stage = busy.size(); stage-- > 0;) {
    if (busy[stage]) continue;
    const std::string subject = number(stage) + " (" +
                                joined(assignment.stages[stage].blocks, quoted_text) +
                                ") has nothing to compute";
    if (training) refuse(subject);
    assignment.warnings.push_back(subject + " in inference and is left out");
    leave_out(assignment, stage);
  }
}

void refuse_backward_flow(const Graph& model, const StageAssignment& assignment) {
  for (const Node& user : model.nodes)
    for (const ValueId input : user.inputs) {
      const NodeId producer = model.value(input).producer;
      if (producer == none) continue;
      const auto from = assignment.of(model.node(producer)), to = assignment.of(user);
      if (from > to)
        refuse(to_string(user) + " in " + number(index(to)) + " needs the output of " +
               to_string(model.node(producer)) + " in " + number(index(from)) +
               "; a stage can use only what it or an earlier stage computes");
    }
}

/// Throws an error if several stages use the same buffer: a buffer changes with every micro-batch,
/// and stages do not exchange such changes.
void refuse_spread_buffers(const Graph& model, const StageAssignment& assignment) {
  std::vector<std::int32_t> stage_of(model.values.size(), none);
  for (const Node& node : model.nodes)
    for (const ValueId input : node.inputs) {
      const Value& value = model.value(input);
      if (value.kind != ValueKind::buffer) continue;
      std::int32_t& of = stage_of[index(input)];
      if (of != none && of != assignment.of(node))
        refuse("buffer " + quoted_text(value.name) + " is used in " + number(index(of)) +
               " and in " + number(index(assignment.of(node))) +
               "; layers that share a buffer must be in one stage");
      of = assignment.of(node);
    }
}

}  // namespace

StageAssignment assign_stages(const Graph& model, const std::vector<StageRequest>& requests,
                              const std::vector<std::int32_t>& ipus, bool training) {
  StageAssignment assignment;
  assignment.of_block = stage_of_blocks(model, requests);
  check_ipus(requests, ipus);
  refuse_nodes_without_stage(model, assignment.of_block);
  assignment.placed = placed(model, requests, ipus);
  assignment.stages = assignment.placed;
  settle_idle_stages(model, training, assignment);
  refuse_backward_flow(model, assignment);
  refuse_spread_buffers(model, assignment);
  return assignment;
}

}  // namespace penstock::graph
