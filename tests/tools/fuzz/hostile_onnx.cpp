#include "tests/tools/fuzz/hostile_onnx.hpp"

#include <cstdint>

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
  // A column of indices has as many rows as the tensor has axes.
  files.push_back(of_nodes({constant("sizes", {1 << 22, 1, 1, 1, 1, 1, 1, 1}),
                            {"ConstantOfShape", {"sizes"}, {"c"}},
                            {"Not", {"c"}, {"ones"}},
                            {"NonZero", {"ones"}, {"d"}},
                            {"Add", {"x", "d"}, {"y"}}}));
  return files;
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
        {nested(2), nested(2000), with_external("../../../../../../etc/passwd"),
         with_external("/etc/passwd"), with_external("self/environ"), with_external("."),
         with_external(""), with_external("weights", "18446744073709551615"),
         with_external(std::string("a\0b", 3))}})
    files.insert(files.end(), more.begin(), more.end());
  return files;
}

}  // namespace penstock::testing
