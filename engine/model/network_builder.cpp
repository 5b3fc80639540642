#include "engine/model/network_builder.hpp"

#include <algorithm>
#include <utility>

#include "engine/names/known_names.hpp"
#include "graph/ir/append.hpp"
#include "graph/ops/casts/casts.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"
#include "penstock/ipu_order.hpp"

namespace penstock {
namespace {

/// The block of the layers before the first begun block has this name and this IPU.
constexpr const char* first_block = "start";
constexpr int first_block_ipu = 0;

Shape one_sample(const Shape& sample) {
  std::vector<std::int64_t> dims{1};
  dims.insert(dims.end(), sample.begin(), sample.end());
  return Shape(dims);
}

/// Returns whether elements of type `dtype` are taken for indices once they are i64.
bool widens(DType dtype) {
  return dtype == DType::u8 || dtype == DType::i32;
}

std::string stage_name(int number) {
  return "stage " + std::to_string(number);
}

/// A Said has a number of a block, such as the block's IPU, and the memory for its place in a map,
/// so that replace_in() cannot fail.
class Said {
 public:
  Said(const std::string& name, int number) : entry_{{name, number}} {}

  void replace_in(std::map<std::string, int>& all) noexcept {
    all.erase(entry_.begin()->first);
    all.merge(entry_);
  }

 private:
  std::map<std::string, int> entry_;
};

}  // namespace

NetworkBuilder NetworkBuilder::copy() const {
  NetworkBuilder result = *this;
  result.open_.clear();
  return result;
}

graph::ValueId NetworkBuilder::input(const std::string& name, const Shape& sample, DType dtype) {
  expect_new(names_.has_input(graph_, name), "input", name);
  if (sample.elements() == 0 || sample.rank() == Shape::max_rank)
    refuse(Errc::shape_mismatch, "input " + quoted_text(name) +
                                     ": expected up to 7 dimensions of 1 or more, got " +
                                     to_string(sample));
  Draft draft(*this);
  const auto id = static_cast<graph::ValueId>(graph_.values.size());
  graph_.values.push_back(
      {.name = name, .type = {dtype, one_sample(sample)}, .kind = graph::ValueKind::input});
  graph_.inputs.push_back(id);
  number_values();
  draft.keep();
  return id;
}

void NetworkBuilder::dynamic_axis(graph::ValueId value, std::int64_t axis, std::int64_t shortest) {
  const auto expect = [&](bool holds, const std::string& expected) {
    if (!holds)
      refuse(Errc::invalid_argument,
             "dynamic_axis of " + described(value) + ": expected " + expected);
  };
  expect(graph_.value(value).kind == graph::ValueKind::input,
         "an input, got a value that the model computes or keeps");
  expect(std::ranges::find(graph_.dynamic_axes, value, &graph::DynamicAxis::input) ==
             graph_.dynamic_axes.end(),
         "one dynamic axis for each input, got a second one");
  const Shape& shape = graph_.type(value).shape;
  const std::int64_t rank = shape.rank(), counted = axis < 0 ? axis + rank : axis;
  expect(counted >= 1 && counted < rank,
         "an axis behind the batch of " + to_string(shape) + ", got " + std::to_string(axis));
  const std::int64_t longest = shape[counted];
  expect(
      shortest >= 1 && shortest <= longest,
      "a shortest size from 1 to " + std::to_string(longest) + ", got " + std::to_string(shortest));
  for (const graph::DynamicAxis& other : graph_.dynamic_axes) {
    const std::int64_t size = graph_.type(other.input).shape[other.axis];
    expect(size == longest, "an axis of the size " + std::to_string(size) + ", as the one of " +
                                described(other.input) + " has, got " + std::to_string(longest));
  }
  graph_.dynamic_axes.push_back({value, static_cast<std::int32_t>(counted), shortest});
}

graph::ValueId NetworkBuilder::variable(const std::string& name, const Shape& shape,
                                        const Initializer& initializer, graph::ValueKind kind) {
  expect_new(names_.has_variable(graph_, name) || shared_.is_added(name), "parameter", name);
  if (kind == graph::ValueKind::parameter)
    if (const graph::ValueId shared = shared_parameter(name, shape); shared != graph::none) {
      shared_.note_use(name, true);
      return shared;
    }
  Draft draft(*this);
  const auto id = static_cast<graph::ValueId>(graph_.values.size());
  graph_.values.push_back({.name = name, .type = {DType::f32, shape}, .kind = kind});
  graph_.variables.push_back({.value = id, .initializer = initializer});
  number_values();
  draft.keep();
  return id;
}

std::string NetworkBuilder::unused_name(const std::string& wanted, const auto& is_used) {
  if (!is_used(wanted)) return wanted;
  std::size_t& number = name_numbers_[wanted];
  std::string name;
  do name = wanted + "_" + std::to_string(++number + 1);
  while (is_used(name));
  return name;
}

std::string NetworkBuilder::unused_node_name(const std::string& wanted) {
  return unused_name(wanted,
                     [&](const std::string& name) { return names_.has_node(graph_, name); });
}

std::string NetworkBuilder::unused_variable_name(const std::string& wanted) {
  return unused_name(wanted,
                     [&](const std::string& name) { return names_.has_variable(graph_, name); });
}

std::string NetworkBuilder::name_of_next(const graph::Op& op) {
  if (nodes_name_.empty()) return names_.numbered(graph_, op);
  if (!names_.has_node(graph_, nodes_name_)) return nodes_name_;
  return unused_node_name(nodes_name_ + "." + std::string(op.name));
}

graph::ValueId NetworkBuilder::node(const graph::Op& op, std::vector<graph::ValueId> inputs,
                                    graph::Attributes attributes, const std::string& name) {
  expect_stages_not_set(std::string(op.name));
  Draft draft(*this);
  // The nodes that widen inputs get their names first, so that this node's name is checked against
  // them, too.
  for (const std::size_t i : op.index_inputs)
    if (i < inputs.size() && widens(graph_.type(inputs[i]).dtype))
      inputs[i] = node(graph::to_i64, {inputs[i]});
  const std::string unused = name.empty() ? name_of_next(op) : name;
  expect_new(names_.has_node(graph_, unused), op.name, unused);
  const auto id =
      graph::append_unnamed(graph_, op, std::move(inputs), std::move(attributes), unused);
  const auto position = static_cast<std::size_t>(id);
  scope_of_.resize(position);
  scope_of_.push_back(open_.empty() ? graph::none : open_.back().block);
  graph_.node(id).block = block_of(position);
  number_values();
  draft.keep();
  return graph_.node(id).outputs.front();
}

void NetworkBuilder::output(const std::string& name, graph::ValueId value) {
  expect_new(names_.has_output(graph_, name), "output", name);
  graph_.outputs.push_back({.name = name, .value = value});
}

void NetworkBuilder::loss(graph::ValueId value) {
  if (graph_.loss != graph::none)
    refuse(Errc::invalid_model,
           "expected one loss, got " + described(graph_.loss) + " and then " + described(value) +
               ": add them up and wrap the sum in identity_loss, or train each by "
               "an Objective of its own");
  const graph::TensorType& type = graph_.type(value);
  if (type.dtype != DType::f32)
    refuse(Errc::shape_mismatch, "loss: expected a value of type f32, got " + to_string(type));
  graph_.loss = value;
}

void NetworkBuilder::freeze(const std::vector<std::size_t>& variables, bool frozen) noexcept {
  for (const std::size_t variable : variables) graph_.variables[variable].frozen = frozen;
}

std::string NetworkBuilder::described(graph::ValueId value) const {
  const graph::NodeId producer = graph_.value(value).producer;
  return producer == graph::none ? quoted_text(graph_.value(value).name)
                                 : graph::to_string(graph_.node(producer));
}

void NetworkBuilder::expect_new_layer(std::string_view kind, const std::string& name) {
  expect_new(names_.has_node(graph_, name), kind, name);
}

int NetworkBuilder::open_block(const std::string& name, int ipu) {
  const std::string subject = "block " + quoted_text(name);
  expect_stages_not_set(subject);
  if (!open_.empty() && open_.back().is_stage) expect_no_scope(subject);
  open_.reserve(open_.size() + 1);  // With this room, push_back() cannot fail.
  Said said(name, ipu);
  const graph::BlockId block = placed_block(name, ipu);
  if (ipu != graph::none) said.replace_in(scope_ipus_);
  open_.push_back({.number = scopes_, .block = block, .is_stage = false});
  return scopes_++;
}

int NetworkBuilder::open_numbered_block() {
  const int scope = open_block(std::to_string(numbered_blocks_), graph::none);
  ++numbered_blocks_;
  return scope;
}

int NetworkBuilder::open_stage(int number) {
  const std::string subject = "pipeline_stage " + std::to_string(number);
  if (number < 0)
    refuse(Errc::invalid_topology,
           subject + ": expected a stage of 0 or more, got " + std::to_string(number));
  expect_stages_not_set(subject);
  expect_no_scope(subject);
  open_.reserve(open_.size() + 1);
  Said said(stage_name(number), number);
  const graph::BlockId block = stage_block(number);
  said.replace_in(stage_scopes_);
  open_.push_back({.number = scopes_, .block = block, .is_stage = true});
  return scopes_++;
}

void NetworkBuilder::expect_no_scope(const std::string& subject) const {
  if (!open_.empty())
    refuse(Errc::invalid_model,
           subject + ": block " +
               quoted_text(graph_.blocks[graph::index(open_.back().block)].name) +
               " is open; its scope has to end first");
}

void NetworkBuilder::expect_stages_not_set(const std::string& subject) const {
  if (!assigned_.empty())
    refuse(Errc::invalid_model, subject +
                                    ": the layers' stages are set; reset_stage_assignment() has to "
                                    "come before another layer");
}

graph::BlockId NetworkBuilder::stage_block(int number) {
  const graph::BlockId block = find_or_add_block(stage_name(number));
  graph_.blocks[graph::index(block)].stage = number;
  return block;
}

graph::BlockId NetworkBuilder::placed_block(const std::string& name, int ipu) {
  if (name.empty()) refuse(Errc::invalid_model, "block: expected a name, got \"\"");
  if (ipu < graph::none || ipu > highest_ipu)
    refuse(Errc::invalid_topology, "block " + quoted_text(name) + ": expected IPU 0 to " +
                                       std::to_string(highest_ipu) + ", or -1 for any, got " +
                                       std::to_string(ipu));
  const graph::BlockId id = find_or_add_block(name);
  graph::Block& block = graph_.blocks[static_cast<std::size_t>(id)];
  if (ipu != graph::none && block.ipu != graph::none && block.ipu != ipu) {
    if (name == first_block) expect_ipu_of_first_block(ipu);
    refuse(Errc::invalid_topology, "block " + quoted_text(name) + ": expected IPU " +
                                       std::to_string(block.ipu) + " as before, got " +
                                       std::to_string(ipu));
  }
  if (ipu != graph::none) block.ipu = ipu;
  return id;
}

void NetworkBuilder::close_block(int scope) noexcept {
  const auto at = std::find_if(open_.begin(), open_.end(),
                               [&](const Scope& open) { return open.number == scope; });
  if (at != open_.end()) open_.erase(at);
}

void NetworkBuilder::begin_block(const std::string& name, int ipu) {
  const std::string subject = "begin_block " + quoted_text(name);
  expect_stages_not_set(subject);
  expect_no_scope(subject);
  begin(static_cast<graph::NodeId>(graph_.nodes.size()), name, ipu, false);
}

void NetworkBuilder::begin_block_at(const std::string& layer, const std::string& name, int ipu) {
  const std::string subject = "begin_block_at " + quoted_text(layer);
  expect_stages_not_set(subject);
  expect_no_scope(subject);
  const graph::NodeId at = first_node_of(layer);
  if (at == graph::none)
    refuse(Errc::invalid_argument, subject + ": there is no layer of that name" +
                                       instead_of(layer, graph_.nodes, &graph::Node::name));
  for (const Begun& begun : begun_)
    if (begun.at == at)
      refuse(Errc::invalid_argument,
             subject + ": block " + quoted_text(graph_.blocks[graph::index(begun.block)].name) +
                 " begins there already");
  begin(at, name, ipu, true);
}

graph::NodeId NetworkBuilder::first_node_of(std::string_view layer) const noexcept {
  const auto first = [&](std::string_view separator) {
    const auto at = std::ranges::find_if(
        graph_.nodes,
        [&](std::string_view name) {
          return name.starts_with(layer) &&
                 (name.size() == layer.size() || name.substr(layer.size()).starts_with(separator));
        },
        &graph::Node::name);
    return at == graph_.nodes.end() ? graph::none
                                    : static_cast<graph::NodeId>(at - graph_.nodes.begin());
  };
  // A layer that is made of several nodes gives its own name to the last one, and names such as
  // "lstm/gates_l0" to the others.
  const graph::NodeId at = first("/");
  return at == graph::none ? first(".") : at;
}

/// Returns whether a block that begins at node `at` would change the block of no node and drop no
/// idle block.
bool NetworkBuilder::changes_nothing_before(graph::NodeId at) {
  if (begun_.empty() || begun_.back().at >= at || std::cmp_less(at, graph_.nodes.size()))
    return false;
  return first_unsaid() != graph::none || !names_.find_block(graph_, first_block);
}

void NetworkBuilder::begin(graph::NodeId at, const std::string& name, int ipu, bool is_mark) {
  if (changes_nothing_before(at)) {
    begun_.reserve(begun_.size() < begun_.capacity() ? 0 : 2 * begun_.size());
    const graph::BlockId block = placed_block(name, ipu);
    begun_.push_back({.at = at, .block = block, .ipu = ipu, .is_mark = is_mark});
    return;
  }
  const auto insert = [&] {
    const Begun begun{.at = at, .block = placed_block(name, ipu), .ipu = ipu, .is_mark = is_mark};
    begun_.insert(std::ranges::upper_bound(begun_, at, {}, &Begun::at), begun);
  };
  reassign(insert, first_block);
}

void NetworkBuilder::remove_marks() {
  reassign([&] { std::erase_if(begun_, &Begun::is_mark); });
}

void NetworkBuilder::set_stages(const std::vector<int>& stages) {
  reassign([&] {
    assigned_.clear();
    for (graph::Block& block : graph_.blocks) block.stage = graph::none;
    for (const int stage : stages) assigned_.push_back(stage_block(stage));
  });
}

void NetworkBuilder::reset_stages() {
  reassign([&] {
    assigned_.clear();
    for (graph::Block& block : graph_.blocks) {
      const auto scope = stage_scopes_.find(block.name);
      block.stage = scope == stage_scopes_.end() ? graph::none : scope->second;
    }
  });
}

graph::BlockId NetworkBuilder::block_of(std::size_t node) const {
  if (!assigned_.empty()) return assigned_[node];
  if (scope_of_[node] != graph::none || begun_.empty()) return scope_of_[node];
  const auto after =
      std::ranges::upper_bound(begun_, static_cast<graph::NodeId>(node), {}, &Begun::at);
  return after == begun_.begin() ? graph::none : std::prev(after)->block;
}

graph::NodeId NetworkBuilder::first_unsaid() const {
  if (begun_.empty()) return graph::none;
  const auto begun = scope_of_.begin() + begun_.front().at;
  const auto node = std::find(scope_of_.begin(), begun, graph::none);
  return node == begun ? graph::none : static_cast<graph::NodeId>(node - scope_of_.begin());
}

void NetworkBuilder::expect_ipu_of_first_block(int ipu) const {
  const graph::NodeId layer = first_unsaid();
  if (layer == graph::none || ipu == graph::none || ipu == first_block_ipu) return;
  const std::string name = quoted_text(graph_.node(layer).name);
  refuse(Errc::invalid_topology, "block \"" + std::string(first_block) + "\": expected IPU " +
                                     std::to_string(first_block_ipu) +
                                     ", for it has the layers before the first begun block (" +
                                     name + " is one), got " + std::to_string(ipu) +
                                     "; begin a block at " + name + ", or give the one on IPU " +
                                     std::to_string(ipu) + " another name");
}

// reassign_blocks() adds the block of the first layers if it is needed, and throws if that block is
// on another IPU already.
void NetworkBuilder::reassign(const auto& change, std::string_view dropped) {
  State before = state();
  try {
    change();
    reassign_blocks();
    drop_idle_blocks(dropped);
  } catch (...) {
    restore(std::move(before));
    throw;
  }
}

void NetworkBuilder::reassign_blocks() {
  set_ipus_of_blocks();
  graph::BlockId first = graph::none;
  if (first_unsaid() != graph::none) {
    first = find_or_add_block(first_block);
    int& ipu = graph_.blocks[graph::index(first)].ipu;
    expect_ipu_of_first_block(ipu);
    ipu = first_block_ipu;
  }
  for (std::size_t node = 0; node < graph_.nodes.size(); ++node) {
    const graph::BlockId block = block_of(node);
    graph_.nodes[node].block = block == graph::none ? first : block;
  }
}

/// Sets the IPU of each block to what the scopes and begun blocks that are there say.
void NetworkBuilder::set_ipus_of_blocks() {
  for (graph::Block& block : graph_.blocks) {
    const auto said = scope_ipus_.find(block.name);
    block.ipu = said == scope_ipus_.end() ? graph::none : said->second;
  }
  for (const Begun& begun : begun_)
    if (begun.ipu != graph::none) graph_.blocks[graph::index(begun.block)].ipu = begun.ipu;
}

void NetworkBuilder::each_block_number(const auto& visit) {
  for (graph::Node& node : graph_.nodes) visit(node.block);
  for (graph::BlockId& block : scope_of_) visit(block);
  for (graph::BlockId& block : assigned_) visit(block);
  for (Scope& scope : open_) visit(scope.block);
  for (Begun& begun : begun_) visit(begun.block);
}

void NetworkBuilder::drop_idle_blocks(std::string_view name) {
  std::vector<bool> kept;
  for (const graph::Block& block : graph_.blocks)
    kept.push_back(!name.empty() && block.name != name);
  each_block_number([&](graph::BlockId block) {
    if (block != graph::none) kept[graph::index(block)] = true;
  });
  if (std::ranges::find(kept, false) != kept.end()) drop_blocks_but(kept);
}

void NetworkBuilder::drop_blocks_but(const std::vector<bool>& kept) {
  std::vector<graph::Block> blocks;
  std::vector<graph::BlockId> numbers;
  for (std::size_t block = 0; block < kept.size(); ++block) {
    numbers.push_back(static_cast<graph::BlockId>(blocks.size()));
    if (kept[block]) blocks.push_back(std::move(graph_.blocks[block]));
  }
  each_block_number([&](graph::BlockId& block) {
    if (block != graph::none) block = numbers[graph::index(block)];
  });
  names_.forget_blocks();
  graph_.blocks = std::move(blocks);
  const auto gone = [&](const auto& scope) { return !names_.find_block(graph_, scope.first); };
  std::erase_if(stage_scopes_, gone);
  std::erase_if(scope_ipus_, gone);
}

graph::BlockId NetworkBuilder::find_or_add_block(const std::string& name) {
  const auto found = names_.find_block(graph_, name);
  const auto id = static_cast<graph::BlockId>(found.value_or(graph_.blocks.size()));
  if (!found) graph_.blocks.push_back({.name = name});
  return id;
}

void NetworkBuilder::refuse(Errc code, const std::string& text) const {
  throw Error(code, "model " + quoted_text(graph_.name) + ": " + text);
}

void NetworkBuilder::expect_new(bool used, std::string_view kind, const std::string& name) const {
  const std::string what(kind);
  if (name.empty()) refuse(Errc::invalid_model, what + ": expected a name, got \"\"");
  if (used)
    refuse(Errc::invalid_model, what + " " + quoted_text(name) + ": the name is used already");
}

}  // namespace penstock
