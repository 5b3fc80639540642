#include "tests/tools/fuzz/hostile_onnx.hpp"

#include <cstdint>
#include <functional>
#include <span>

#include "penstock/penstock.hpp"
#include "tests/support/onnx_bytes.hpp"

namespace penstock::testing {
namespace {

using Integers = std::vector<std::int64_t>;

constexpr std::int64_t huge = std::int64_t{1} << 40;

OnnxBytes with_input() {
  OnnxBytes bytes;
  bytes.input("x", {"batch", 4}).output("y");
  return bytes;
}

/// Returns a file whose output is made of its input by `nodes`.
std::string of_nodes(const std::vector<OnnxNodeBytes>& nodes) {
  OnnxBytes bytes = with_input();
  for (const OnnxNodeBytes& node : nodes) bytes.node(node);
  return bytes.file();
}

/// Returns a node that gives the numbers `values`.
OnnxNodeBytes constant(const std::string& name, const Integers& values) {
  return {"Constant", {}, {name}, {{"value_ints", values}}};
}

Tensor integer(std::int64_t value) {
  return {Shape(), std::span<const std::int64_t>(&value, 1)};
}

std::vector<std::string> bad_graphs() {
  std::vector<std::string> files{
      of_nodes({{"Add", {"x", "y"}, {"y"}}}),
      of_nodes({{"Relu", {"b"}, {"a"}}, {"Relu", {"a"}, {"b"}}, {"Add", {"x", "a"}, {"y"}}}),
      of_nodes({{"Relu", {"x"}, {"y"}}, {"Tanh", {"x"}, {"y"}}}),
      of_nodes({{"Relu", {"nowhere"}, {"y"}}}),
      of_nodes({}),
      with_input().input("x", {"batch", 4}).node({"Relu", {"x"}, {"y"}}).file()};
  OnnxBytes twice = with_input();
  for (int i = 0; i < 2; ++i) twice.initializer("w", Tensor::zeros(DType::f32, {4}));
  files.push_back(twice.node({"Add", {"x", "w"}, {"y"}}).file());
  return files;
}

/// Returns files that ask for numbers, or for work, without end.
std::vector<std::string> bombs() {
  std::vector<std::string> files;
  for (const Integers& sizes :
       {Integers{huge}, {huge, huge}, {INT64_MAX, 3}, {-5}, {1 << 20, 1 << 20}})
    files.push_back(of_nodes({constant("sizes", sizes),
                              {"ConstantOfShape", {"sizes"}, {"c"}},
                              {"Add", {"x", "c"}, {"y"}}}));
  for (const char* const op : {"Expand", "Tile"})
    files.push_back(of_nodes({constant("sizes", {huge}),
                              constant("one", {1}),
                              {op, {"one", "sizes"}, {"c"}},
                              {"Add", {"x", "c"}, {"y"}}}));
  files.push_back(
      of_nodes({constant("sizes", {0, INT64_MAX, 0, INT64_MAX}), {"Pad", {"x", "sizes"}, {"y"}}}));
  // Each input of the operator is as large as its result, and there are a thousand of them.
  files.push_back(of_nodes({constant("sizes", {1 << 22}),
                            {"ConstantOfShape", {"sizes"}, {"c"}},
                            {"Max", std::vector<std::string>(1000, "c"), {"d"}},
                            {"Add", {"x", "d"}, {"y"}}}));
  files.push_back(of_nodes({constant("sizes", {1 << 22}),
                            constant("many", Integers(1000, 0)),
                            {"ConstantOfShape", {"sizes"}, {"c"}},
                            {"Slice", {"c", "many", "sizes", "many"}, {"d"}},
                            {"Add", {"x", "d"}, {"y"}}}));
  // An axis that stands twice in `perm` would make a result of 2^44 elements.
  files.push_back(of_nodes({constant("sizes", {1 << 22, 1}),
                            {"ConstantOfShape", {"sizes"}, {"c"}},
                            {"Transpose", {"c"}, {"d"}, {{"perm", Integers{0, 0}}}},
                            {"Add", {"x", "d"}, {"y"}}}));
  // The constant is the largest that is computed, and the second node doubles it.
  files.push_back(of_nodes({constant("sizes", {1 << 22}),
                            {"ConstantOfShape", {"sizes"}, {"c"}},
                            {"Concat", {"c", "c"}, {"d"}, {{"axis", std::int64_t{0}}}},
                            {"Add", {"x", "d"}, {"y"}}}));
  // A tensor without elements is cut into as many parts as there can be.
  files.push_back(of_nodes({constant("none", {0}),
                            constant("sizes", {1 << 22}),
                            {"ConstantOfShape", {"none"}, {"c"}},
                            {"ConstantOfShape", {"sizes"}, {"zeros"}},
                            {"Cast", {"zeros"}, {"parts"}, {{"to", std::int64_t{7}}}},
                            {"Split", {"c", "parts"}, {"d"}},
                            {"Add", {"x", "d"}, {"y"}}}));
  // A column of indices has as many rows as the tensor has axes.
  files.push_back(of_nodes({constant("sizes", {1 << 22, 1, 1, 1, 1, 1, 1, 1}),
                            {"ConstantOfShape", {"sizes"}, {"c"}},
                            {"Not", {"c"}, {"ones"}},
                            {"NonZero", {"ones"}, {"d"}},
                            {"Add", {"x", "d"}, {"y"}}}));
  return files;
}

/// Returns a file in which `node` makes output number i of the input "x" for each i below `count`.
/// Its other inputs are `initializers`.
std::string of_many(int count, const std::vector<std::int64_t>& dims,
                    const std::vector<NamedTensor>& initializers,
                    const std::function<OnnxNodeBytes(const std::string&)>& node) {
  OnnxBytes bytes;
  bytes.input("x", {"batch", dims[0], dims[1]});
  for (const NamedTensor& tensor : initializers) bytes.initializer(tensor.name, tensor.tensor);
  for (int i = 0; i < count; ++i) {
    const std::string name = "y" + std::to_string(i);
    bytes.node(node(name)).output(name);
  }
  return bytes.file();
}

/// Returns files that ask for lists and matrices, each of which is small enough.
std::vector<std::string> bombs_of_lists() {
  constexpr std::int64_t longest = 1 << 22;
  const auto list = [](const Integers& numbers) {
    return Tensor(Shape({std::ssize(numbers)}), std::span<const std::int64_t>(numbers));
  };
  const NamedTensor halved{"scales", Tensor({3}, {1, 1, 0.5f})},
      widened{"scales", Tensor({3}, {1, 1, static_cast<float>(longest)})},
      depth{"depth", list({longest})}, values{"values", Tensor({2}, {0, 1})},
      begin{"begin", list({0})}, end{"end", list({2 * longest})}, axis{"axis", list({2})};
  const auto resized = [](const std::string& mode) {
    return [mode](const std::string& name) {
      return OnnxNodeBytes{"Resize", {"x", "", "scales"}, {name}, {{"mode", mode}}};
    };
  };
  std::vector<std::string> files;
  files.push_back(of_many(60, {1, 2048}, {halved}, resized("linear")));
  files.push_back(of_many(25, {1, 1}, {widened}, resized("nearest")));
  files.push_back(of_many(20, {1, 1}, {depth, values}, [](const std::string& name) {
    return OnnxNodeBytes{"OneHot", {"x", "depth", "values"}, {name}};
  }));
  files.push_back(of_many(20, {1, 2 * longest}, {begin, end, axis}, [](const std::string& name) {
    return OnnxNodeBytes{"Slice", {"x", "begin", "end", "axis", "axis"}, {name}};
  }));
  files.push_back(of_many(20, {1, longest}, {}, [](const std::string& name) {
    return OnnxNodeBytes{"ArgMax",
                         {"x"},
                         {name},
                         {{"axis", std::int64_t{2}}, {"select_last_index", std::int64_t{1}}}};
  }));
  // Each result repeats its input as often as an axis may be repeated. The last node is refused.
  OnnxBytes tiled;
  tiled.input("x", {"batch", 1, 1}).initializer("repeats", list({1, 1, 1 << 20}));
  for (int i = 0; i < 300; ++i) {
    const std::string name = "y" + std::to_string(i);
    tiled.node({"Tile", {"x", "repeats"}, {name}}).output(name);
  }
  files.push_back(tiled.node({"Det", {"x"}, {"d"}}).output("d").file());
  OnnxBytes gathered;
  gathered.input("x", {"batch", longest}).initializer("begin", integer(0));
  gathered.initializer("end", integer(longest)).initializer("step", integer(1));
  gathered.node({"Range", {"begin", "end", "step"}, {"indices"}});
  for (int i = 0; i < 20; ++i) {
    const std::string name = "y" + std::to_string(i);
    gathered.node({"Gather", {"x", "indices"}, {name}, {{"axis", std::int64_t{1}}}}).output(name);
  }
  files.push_back(gathered.file());
  return files;
}

/// Returns files whose nodes read, or keep, the same constants again and again.
std::vector<std::string> bombs_of_constants() {
  constexpr std::int64_t longest = 1 << 22;
  const auto with_range = [] {
    OnnxBytes bytes = with_input();
    bytes.initializer("begin", integer(0)).initializer("end", integer(longest));
    bytes.initializer("step", integer(1));
    return bytes.node({"Range", {"begin", "end", "step"}, {"c"}});
  };
  // The elements are read, and the results are small.
  OnnxBytes read = with_range();
  for (int i = 0; i < 100; ++i) {
    const std::string name = "r" + std::to_string(i);
    read.node({"ReduceMax", {"c"}, {name}}).output(name);
  }
  // The same elements are a constant of another shape for each node.
  OnnxBytes kept;
  kept.input("x", {"batch", 1, 1}).initializer("begin", integer(0));
  kept.initializer("end", integer(longest)).initializer("step", integer(1));
  kept.node({"Range", {"begin", "end", "step"}, {"c"}});
  for (std::int64_t rows = 1; rows < longest; rows *= 2) {
    const std::string name = "y" + std::to_string(rows);
    kept.node(constant("s" + name, {1, rows, longest / rows}));
    kept.node({"Reshape", {"c", "s" + name}, {"c" + name}});
    kept.node({"Add", {"x", "c" + name}, {name}}).output(name);
  }
  // Each result takes as much memory as its input.
  OnnxBytes made = with_range();
  std::string name = "c";
  for (int i = 0; i < 20; ++i) {
    const std::string next = "n" + std::to_string(i);
    made.node({"Neg", {name}, {next}});
    name = next;
  }
  made.node({"Add", {"x", name}, {"y"}});
  return {read.file(), kept.file(), made.file()};
}

/// Returns files in which the numbers of axes and of elements of constants depend on the number of
/// samples.
std::vector<std::string> changing_ranks() {
  // There are as many ones as the batch lacks to 5, and a list has the batch behind them.
  const auto of_list = [](const std::vector<OnnxDimension>& dims, const OnnxNodeBytes& node) {
    OnnxBytes bytes;
    bytes.input("x", dims).output("y").node(constant("five", {5}));
    bytes.node({"Shape", {"x"}, {"shape"}});
    bytes.node({"ReduceProd", {"shape"}, {"batch"}}).node({"Sub", {"five", "batch"}, {"count"}});
    bytes.node(constant("one", {1})).node({"Expand", {"one", "count"}, {"ones"}});
    bytes.node({"Concat", {"ones", "batch"}, {"list"}, {{"axis", std::int64_t{0}}}});
    return bytes.node({"ConstantOfShape", {"list"}, {"zeros"}}).node(node).file();
  };
  return {of_list({"batch", 1, 1}, {"Tile", {"x", "ones"}, {"y"}}),
          of_list({"batch"}, {"Expand", {"x", "list"}, {"y"}}),
          of_list({"batch"}, {"Reshape", {"x", "list"}, {"y"}}),
          of_list({"batch", 1, 1}, {"Resize", {"x", "", "", "ones"}, {"y"}}),
          of_list({1, 1, 1, "batch"}, {"Add", {"x", "zeros"}, {"y"}}),
          of_list({"batch", 1, 1}, {"Shape", {"zeros"}, {"y"}})};
}

/// Returns a file in which graphs are inside of each other, `depth` of them.
std::string nested(int depth) {
  constexpr unsigned node = 1, attribute = 5, graph_of_attribute = 6, kind_of_attribute = 20;
  constexpr std::int64_t is_graph = 5;
  std::string inner;
  for (int i = 0; i < depth; ++i) {
    const std::string branch = wire_bytes(1, "then_branch") +
                               wire_bytes(graph_of_attribute, inner) +
                               wire_integer(kind_of_attribute, is_graph);
    inner = wire_bytes(node, onnx_node({"If", {"x"}, {"y"}}) + wire_bytes(attribute, branch));
  }
  return with_input().graph_field(inner).file();
}

/// Returns a file whose weight is said to be in the file at `location`.
std::string with_external(const std::string& location, const std::string& offset = "0") {
  constexpr unsigned dims = 1, type = 2, name = 8, external_data = 13, data_location = 14;
  const auto entry = [](const std::string& key, const std::string& value) {
    return wire_bytes(external_data, wire_bytes(1, key) + wire_bytes(2, value));
  };
  const std::string tensor = wire_integer(dims, 4) + wire_integer(type, 1) + wire_bytes(name, "w") +
                             wire_integer(data_location, 1) + entry("location", location) +
                             entry("offset", offset);
  constexpr unsigned initializer = 5;
  return with_input()
      .graph_field(wire_bytes(initializer, tensor))
      .node({"Add", {"x", "w"}, {"y"}})
      .file();
}

}  // namespace

std::vector<std::string> hostile_onnx() {
  std::vector<std::string> files = bad_graphs();
  for (const auto& more :
       {bombs(),
        bombs_of_lists(),
        bombs_of_constants(),
        changing_ranks(),
        {nested(2), nested(2000), with_external("../../../../../../etc/passwd"),
         with_external("/etc/passwd"), with_external("self/environ"), with_external("."),
         with_external(""), with_external("weights", "18446744073709551615"),
         with_external(std::string("a\0b", 3))}})
    files.insert(files.end(), more.begin(), more.end());
  return files;
}

}  // namespace penstock::testing
