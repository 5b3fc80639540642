// A NetworkBuilder has a model's graph while layers are being added to it: unique names, blocks,
// parameters and outputs. The graph is that of one sample: dimension 0 of every input is 1. One
// thread at a time uses it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/model/network_names.hpp"
#include "engine/model/shared_names.hpp"
#include "graph/ir/graph.hpp"
#include "graph/ir/op.hpp"
#include "penstock/error.hpp"

namespace penstock {

class NetworkBuilder {
 public:
  explicit NetworkBuilder(const std::string& name) { graph_.name = name; }

  const graph::Graph& graph() const noexcept { return graph_; }
  /// Returns a copy of the network in which no scope is open.
  NetworkBuilder copy() const;

  /// Returns a number that no other value of the network has or had; a later value may have the
  /// `id` of one that was taken back, but not its serial number.
  std::uint64_t serial(graph::ValueId id) const { return serials_[graph::index(id)]; }
  /// Returns whether the value that had this `id` and this `serial` number is still there.
  bool has(graph::ValueId id, std::uint64_t serial) const noexcept;

  /// Adds an input. @throws Error invalid_model, as all functions that take a name, if the name is
  /// empty or used already.
  graph::ValueId input(const std::string& name, const Shape& sample, DType dtype);
  /// Lets the size of an axis of an input differ from call to call, from `shortest` up to the size
  /// that the input has now. A negative axis counts from the end.
  /// @throws Error invalid_argument if `value` is no input, or has such an axis already; if there
  /// is no such axis, or it is the batch; or for sizes that are out of range.
  void dynamic_axis(graph::ValueId value, std::int64_t axis, std::int64_t shortest);
  /// Adds a parameter or buffer of type f32. If share() has said that a parameter of this name is
  /// another layer's, returns that one. @throws Error shape_mismatch if there is no such parameter,
  /// or if it has another shape.
  graph::ValueId variable(const std::string& name, const Shape& shape,
                          const Initializer& initializer, graph::ValueKind kind);
  /// Returns the parameter called `name`, or the one that takes its place. @throws Error
  /// invalid_argument if there is none.
  graph::ValueId parameter(const std::string& name);
  /// Says that the layer `layer`, which has no parameters yet, gets those of the layer `source`.
  /// See Layers::share_parameters(). @throws Error invalid_argument.
  void share(const std::string& layer, const std::string& source);
  /// Checks that for each share() the parameters were asked for, by a layer or by parameter().
  /// @throws Error invalid_model, which names the layer of the share, and says whether it is
  /// missing or has no parameters.
  void expect_shares_used() const;
  /// Has nodes that are added without a name from now on be called `name` or, if that name is in
  /// use, `name`, a dot and the op's name, with a number if need be. An empty `name` undoes this.
  void name_nodes(std::string name) { nodes_name_ = std::move(name); }
  /// Returns `wanted` or, if a node or variable has that name, `wanted` and a number.
  std::string unused_node_name(const std::string& wanted);
  std::string unused_variable_name(const std::string& wanted);
  /// Adds a node of the innermost open block, and returns its first output. If `name` is empty, the
  /// node gets a name that is not in use. Inputs of u8 and i32 at Op::index_inputs are widened to
  /// i64 by nodes of their own.
  graph::ValueId node(const graph::Op& op, std::vector<graph::ValueId> inputs,
                      graph::Attributes attributes = {}, const std::string& name = "");
  void output(const std::string& name, graph::ValueId value);
  /// Makes `value` the loss. @throws Error invalid_model at the second call, shape_mismatch if it
  /// is not f32.
  void loss(graph::ValueId value);

  /// Freezes or unfreezes the variables at the positions `variables` in Graph::variables.
  void freeze(const std::vector<std::size_t>& variables, bool frozen) noexcept;

  /// Says that the node that computes `value` takes no other size than that of its input now.
  void fix_size(graph::ValueId value) {
    graph_.node(graph_.value(value).producer).fixed_size = true;
  }

  /// Marks the value as a checkpoint, which a stage keeps even if it recomputes.
  void checkpoint(graph::ValueId value) { graph_.value(value).checkpoint = true; }

  /// Checks that a new layer of the kind `kind` may be called `name`. @throws Error invalid_model
  /// if it must not.
  void expect_new_layer(std::string_view kind, const std::string& name);

  /// Opens the scope of a block, inside the scopes that are open already. Returns the scope's
  /// number, by which close_block() closes it. An `ipu` of -1 stands for any IPU.
  /// @throws Error invalid_model for an empty name, inside the scope of a stage, and while stages
  /// are set by set_stages(); invalid_topology for an `ipu` below -1 or above highest_ipu, or if
  /// the block was opened before on another IPU.
  int open_block(const std::string& name, int ipu);
  /// Opens a block as open_block() does. Its name is the number of blocks that this function has
  /// opened before.
  int open_numbered_block();
  void close_block(int scope) noexcept;
  /// Opens the scope of pipeline stage `number`, and returns the scope's number. The scope of a
  /// stage is inside no other scope, and has none inside.
  /// @throws Error invalid_topology for a negative number, invalid_model inside another scope and
  /// while stages are set by set_stages().
  int open_stage(int number);

  /// Puts nodes that are added outside of scopes into block `name` from now on, until the next
  /// block begins.
  /// @throws Error as open_block(), and invalid_model inside a scope.
  void begin_block(const std::string& name, int ipu);
  /// Begins a block as begin_block() does, but at a layer that is there already. remove_marks()
  /// takes it back.
  /// @throws Error as begin_block(), and invalid_argument if there is no such layer, or a block
  /// begins there already.
  void begin_block_at(const std::string& layer, const std::string& name, int ipu);
  /// Takes back the blocks that begin_block_at() has begun.
  /// @throws Error invalid_topology if the first layers then are in the block "start", and that
  /// block is not on IPU 0.
  void remove_marks();

  /// Sets the stage of every node to the number that `stages` has at the node's position, whatever
  /// scopes and blocks say. Until reset_stages() is called, no node can be added, and no scope
  /// opened.
  void set_stages(const std::vector<int>& stages);
  void reset_stages();

  /// A State is what the network was made of at one time, so that restore() can go back to it after
  /// more was added.
  struct State;
  State state() const;
  /// Goes back to `before`. Scopes that were opened since then are closed, and scopes that were
  /// closed since then stay closed.
  void restore(State&& before) noexcept;

  /// A Draft takes back, when it is destroyed, the inputs, nodes and variables that were added
  /// since it was made, unless keep() was called.
  class Draft {
   public:
    explicit Draft(NetworkBuilder& builder);
    Draft(const Draft&) = delete;
    Draft& operator=(const Draft&) = delete;
    ~Draft();
    void keep() noexcept { kept_ = true; }

   private:
    NetworkBuilder& builder_;
    std::size_t values_, nodes_, variables_, inputs_, uses_;  // `uses_` are those of `shared_`.
    bool kept_ = false;
  };

 private:
  struct Scope {
    int number;
    graph::BlockId block;
    bool is_stage;
  };

  /// Gives a serial number to each value that has none yet.
  void number_values();
  /// Returns the parameter that takes the place of the parameter `name`, or `none`. @throws Error
  /// as variable().
  graph::ValueId shared_parameter(const std::string& name, const Shape& shape) const;
  /// Returns the parameter called `name`, or `none`.
  graph::ValueId find_parameter(const std::string& name) const;
  /// Returns the names of all parameters.
  std::vector<std::string_view> parameter_names() const;
  [[noreturn]] void refuse(Errc code, const std::string& text) const;
  std::string described(graph::ValueId value) const;
  void expect_new(bool used, std::string_view kind, const std::string& name) const;
  /// A Begun is a block that begins before a node and ends where the next block begins.
  struct Begun {
    graph::NodeId at;
    graph::BlockId block;
    std::int32_t ipu;  // `ipu` is `none` if begin() was given no IPU.
    bool is_mark;
  };

  void expect_no_scope(const std::string& subject) const;
  void expect_stages_not_set(const std::string& subject) const;
  graph::BlockId stage_block(int number);
  graph::BlockId placed_block(const std::string& name, int ipu);
  graph::BlockId find_or_add_block(const std::string& name);
  /// Returns the first node of the layer `layer` or, if there is none of that name, of the layers
  /// whose names begin with `layer` and a dot; or `none`.
  graph::NodeId first_node_of(std::string_view layer) const noexcept;
  /// Returns the first node that is in no scope and before every begun block, or `none`.
  graph::NodeId first_unsaid() const;
  /// Checks that the block "start" of the first layers, if any node is in it, may be on `ipu`.
  /// @throws Error invalid_topology if `ipu` is neither `none` nor 0.
  void expect_ipu_of_first_block(int ipu) const;
  bool changes_nothing_before(graph::NodeId at);
  void begin(graph::NodeId at, const std::string& name, int ipu, bool is_mark);
  graph::BlockId block_of(std::size_t node) const;
  /// Calls `change`, puts all nodes into their blocks anew, and calls drop_idle_blocks(dropped). If
  /// anything throws, nothing has changed.
  void reassign(const auto& change, std::string_view dropped = {});
  void reassign_blocks();
  void set_ipus_of_blocks();
  void each_block_number(const auto& visit);
  /// Drops the blocks that nothing refers to: all of them or, if `name` is not empty, only the
  /// block called `name`.
  void drop_idle_blocks(std::string_view name = {});
  void drop_blocks_but(const std::vector<bool>& kept);

  /// Returns `wanted` or, if that name is used, `wanted` and a number.
  std::string unused_name(const std::string& wanted, const auto& is_used);
  /// Returns a name for a new node that was given none.
  std::string name_of_next(const graph::Op& op);

  graph::Graph graph_;
  std::string nodes_name_;  // See name_nodes().
  // `name_numbers_` has the last number that was put behind a name to make it an unused one.
  std::unordered_map<std::string, std::size_t> name_numbers_;
  NetworkNames names_;                  // `names_` has the names of graph_.
  SharedNames shared_;                  // `shared_` says which layers have others' parameters.
  std::vector<std::uint64_t> serials_;  // `serials_` has a serial number for each value.
  std::uint64_t last_serial_ = 0;
  std::vector<Scope> open_;
  int scopes_ = 0;
  int numbered_blocks_ = 0;
  // `scope_of_` has the block of each node's scope, or `none`. Behind that of the last node, it may
  // still have the blocks of nodes that were taken back.
  std::vector<graph::BlockId> scope_of_;
  std::vector<Begun> begun_;  // `begun_` has the begun blocks in the order of the nodes.
  // `assigned_` has, for each node, the block of the stage that set_stages() has set. It is empty
  // if no stages are set.
  std::vector<graph::BlockId> assigned_;
  // `stage_scopes_` has the stages of open_stage(), by block name.
  std::map<std::string, int> stage_scopes_;
  // `scope_ipus_` has the IPUs that open_block() was given, by block name.
  std::map<std::string, int> scope_ipus_;
};

struct NetworkBuilder::State {
  std::size_t values, nodes, variables, inputs, outputs;
  graph::ValueId loss;
  std::vector<graph::DynamicAxis> dynamic_axes;
  SharedNames shared;
  std::vector<bool> checkpoints;  ///< `checkpoints` says for each value whether it is a checkpoint.
  std::vector<bool> frozen;       ///< `frozen` says for each variable whether it is frozen.
  std::vector<graph::Block> blocks;
  std::vector<graph::BlockId> block_of;  ///< `block_of` has the block of each node.
  int numbered_blocks;
  std::vector<Scope> open;
  std::vector<graph::BlockId> scope_of;
  std::vector<Begun> begun;
  std::vector<graph::BlockId> assigned;
  std::map<std::string, int> stage_scopes, scope_ipus;
};

}  // namespace penstock
