#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/onnx/import/folded_node.hpp"
#include "engine/onnx/import/network_import.hpp"
#include "tests/engine/onnx/imported_models.hpp"
#include "tests/support/allocation_counter.hpp"
#include "tests/support/refusal.hpp"

namespace penstock::testing {
namespace {

constexpr std::int64_t longest = 1 << 22;
const std::string too_much =
    "what is computed at import takes more than 268435456 bytes from this node on; choose smaller "
    "sizes, or let the exporter compute the constants (do_constant_folding=True), because what the "
    "file has does not count";

const std::string too_much_work =
    "what is computed at import reads and makes more than 268435456 elements from this node on; "
    "choose smaller sizes, or let the exporter compute the constants (do_constant_folding=True), "
    "because constants that the file has need not be computed";

using Settings = std::vector<std::pair<std::string, OnnxSetting>>;

Tensor number(std::int64_t value) {
  return {Shape(), std::span<const std::int64_t>(&value, 1)};
}

Tensor bools(const Shape& shape) {
  const std::shared_ptr<bool[]> elements(new bool[static_cast<std::size_t>(shape.elements())]);
  for (std::int64_t i = 0; i < shape.elements(); ++i) elements[i] = i % 3 == 0;
  return Tensor::wrap(DType::boolean, shape,
                      {elements, reinterpret_cast<const std::byte*>(elements.get())});
}

/// Returns a graph with the input x [batch,1,`size`].
OnnxBytes with_input(std::int64_t size) {
  OnnxBytes bytes;
  bytes.input("x", {"batch", 1, size});
  bytes.initializer("zero", number(0)).initializer("one", number(1));
  bytes.initializer("longest", number(longest));
  return bytes;
}

/// Adds `count` nodes that are called "n0" and so on, each of which makes an output.
OnnxBytes& add_nodes(OnnxBytes& bytes, int count, const std::string& op_type,
                     const std::vector<std::string>& inputs, const Settings& settings = {}) {
  for (int i = 0; i < count; ++i) {
    const std::string name = "n" + std::to_string(i);
    bytes.node({op_type, inputs, {name}, settings, name}).output(name);
  }
  return bytes;
}

/// Expects that the file is refused for its memory alone, before it has taken much.
void expect_too_much(OnnxBytes& bytes, const std::string& op_type) {
  const std::uint64_t before = heap_bytes();
  const std::string text = refused(Errc::unsupported, bytes.file());
  EXPECT_LT(heap_bytes() - before, std::uint64_t{3} << 28) << op_type;
  EXPECT_TRUE(text.starts_with("this node cannot be imported: " + op_type + " (\"n")) << text;
  EXPECT_TRUE(text.ends_with(": " + too_much)) << text;
}

TEST(ImportLimits, CountTheListsOfAllNodesTogether) {
  const std::int64_t twice = 2 * longest;
  OnnxBytes nearest = with_input(1), slice = with_input(twice), last = with_input(longest),
            gather = with_input(longest);
  nearest.initializer("scales", Tensor({3}, {1, 1, static_cast<float>(longest)}));
  expect_too_much(add_nodes(nearest, 25, "Resize", {"x", "", "scales"}), "Resize");
  slice.initializer("begin", integers({0})).initializer("end", integers({twice}));
  slice.initializer("two", integers({2}));
  expect_too_much(add_nodes(slice, 20, "Slice", {"x", "begin", "end", "two", "two"}), "Slice");
  const Settings last_of_axis{{"axis", std::int64_t{2}}, {"select_last_index", std::int64_t{1}}};
  expect_too_much(add_nodes(last, 20, "ArgMax", {"x"}, last_of_axis), "ArgMax");
  gather.node({"Range", {"zero", "longest", "one"}, {"indices"}});
  expect_too_much(add_nodes(gather, 20, "Gather", {"x", "indices"}, {{"axis", std::int64_t{2}}}),
                  "Gather");
}

TEST(ImportLimits, CountTheMatricesOfAllNodesTogether) {
  OnnxBytes linear = with_input(2048), one_hot = with_input(1);
  linear.initializer("scales", Tensor({3}, {1, 1, 0.5f}));
  expect_too_much(
      add_nodes(linear, 60, "Resize", {"x", "", "scales"}, {{"mode", std::string("linear")}}),
      "Resize");
  one_hot.initializer("values", Tensor({2}, {0, 1}));
  expect_too_much(add_nodes(one_hot, 60, "OneHot", {"x", "longest", "values"}), "OneHot");
}

TEST(ImportLimits, CountConstantsOfTheSameElementsForEachShape) {
  OnnxBytes bytes = with_input(1);
  bytes.node({"Range", {"zero", "longest", "one"}, {"c"}});
  for (std::int64_t i = 0, rows = 1; rows < longest; ++i, rows *= 2) {
    const std::string name = "n" + std::to_string(i);
    bytes.initializer("to" + name, integers({1, rows, longest / rows}));
    bytes.node({"Reshape", {"c", "to" + name}, {"c" + name}});
    bytes.node({"Add", {"x", "c" + name}, {name}, {}, name}).output(name);
  }
  expect_too_much(bytes, "Add");
}

TEST(ImportLimits, AreToldOnceBesidesOtherReasons) {
  OnnxBytes bytes = with_input(1);
  bytes.node({"Range", {"zero", "longest", "one"}, {"n0"}, {}, "n0"});
  for (int i = 1; i < 20; ++i) {
    const std::string name = "n" + std::to_string(i);
    bytes.node({"Neg", {"n" + std::to_string(i - 1)}, {name}, {}, name});
  }
  bytes.node({"Add", {"x", "n19"}, {"y"}}).output("y");
  bytes.node({"ConstantOfShape", {"to"}, {"innocent"}}).initializer("to", integers({3}));
  bytes.node({"Add", {"x", "innocent"}, {"z"}}).output("z");
  bytes.node({"Det", {"x"}, {"d"}, {}, "det"}).output("d");
  EXPECT_EQ(refused(Errc::unsupported, bytes.file()),
            "these nodes cannot be imported: Neg (\"n8\"): " + too_much +
                "; Det (\"det\"): Penstock does not have this operator" + export_advice);
}

/// Returns a graph with the input x [batch,1,`length`,8], for attentions.
OnnxBytes with_text(std::int64_t length) {
  OnnxBytes bytes;
  bytes.input("x", {"batch", 1, length, 8}).output("y");
  bytes.initializer("low", Tensor({}, {-1e4f})).initializer("root", Tensor({}, {3}));
  bytes.initializer("begin", integers({0})).initializer("end", integers({length}));
  return bytes.initializer("two", integers({2})).initializer("three", integers({3}));
}

/// Adds an attention over `x` in which the tensor `mask` chooses between scores and "low". Returns
/// the name of its result.
std::string add_attention(OnnxBytes& bytes, const std::string& x, const std::string& mask,
                          int layer) {
  const auto named = [&](const std::string& name) { return name + std::to_string(layer); };
  bytes.node({"Transpose", {x}, {named("t")}, {{"perm", std::vector<std::int64_t>{0, 1, 3, 2}}}});
  bytes.node({"MatMul", {x, named("t")}, {named("raw")}});
  bytes.node({"Div", {named("raw"), "root"}, {named("scores")}});
  bytes.node({"Where", {mask, named("scores"), "low"}, {named("chosen")}});
  bytes.node({"Softmax", {named("chosen")}, {named("shares")}, {{"axis", std::int64_t{-1}}}});
  bytes.node({"MatMul", {named("shares"), x}, {named("x")}});
  return named("x");
}

/// Expects that each of the `layers` layers of a model is an attention.
void expect_attentions(OnnxBytes& bytes, const std::string& last, std::ptrdiff_t layers) {
  bytes.node({"Identity", {last}, {"y"}});
  const Model model = imported(bytes.file());
  EXPECT_EQ(std::ranges::count(model.stage_assignment(), "attention", &LayerStage::op), layers);
}

TEST(ImportLimits, LeaveRoomForTheMasksOfALanguageModel) {
  constexpr std::int64_t longest_text = 1024, length = 1000;
  const Tensor mask = bools({1, 1, longest_text, longest_text});
  OnnxBytes apart = with_text(length);
  std::string x = "x";
  for (int layer = 0; layer < 12; ++layer) {
    const std::string number = std::to_string(layer);
    apart.initializer("mask" + number, mask);
    apart.node({"Slice", {"mask" + number, "begin", "end", "two"}, {"rows" + number}});
    apart.node({"Slice", {"rows" + number, "begin", "end", "three"}, {"part" + number}});
    x = add_attention(apart, x, "part" + number, layer);
  }
  expect_attentions(apart, x, 12);

  OnnxBytes shared = with_text(longest_text);
  shared.initializer("mask", mask);
  x = "x";
  for (int layer = 0; layer < 48; ++layer) x = add_attention(shared, x, "mask", layer);
  expect_attentions(shared, x, 48);
}

TEST(ImportLimits, LetEachOfManyAttentionsAskForTheRowsOfTheSameMask) {
  constexpr std::int64_t length = 2048;
  OnnxBytes bytes = with_text(length);
  std::vector<std::uint8_t> rows(length * length, 1);
  std::fill(rows.end() - length, rows.end(), 0);
  bytes.initializer("bytes", Tensor({length, length}, std::span<const std::uint8_t>(rows)));
  bytes.node({"Cast", {"bytes"}, {"mask"}, {{"to", std::int64_t{9}}}});
  std::string x = "x";
  for (int layer = 0; layer < 100; ++layer) x = add_attention(bytes, x, "mask", layer);
  // The last row shows no key, so that none of them is an attention.
  expect_attentions(bytes, x, 0);
}

TEST(ImportLimits, DoNotCountWhatTheFileHasNorTensorsThatShareElements) {
  constexpr std::int64_t rows = (longest + longest / 4) / 4;
  OnnxBytes bytes;
  bytes.input("x", {"batch", 3}, DType::i64).output("y");
  bytes.node({"Constant", {}, {"c0"}, {{"value", counted({rows * 4})}}});
  bytes.initializer("two_axes", integers({rows, 4})).initializer("first", integers({0}));
  std::string name = "c0";
  const auto add = [&](const std::string& op_type, const std::vector<std::string>& more) {
    std::vector<std::string> inputs{name};
    inputs.insert(inputs.end(), more.begin(), more.end());
    bytes.node({op_type, inputs, {name + "c"}});
    name += "c";
  };
  for (int i = 0; i < 10; ++i) {
    add("Identity", {});
    add("Reshape", {"two_axes"});
    add("Unsqueeze", {"first"});
    add("Squeeze", {"first"});
    add("Flatten", {});
  }
  bytes.node({"Gather", {name, "x"}, {"y"}});
  EXPECT_NO_THROW(imported(bytes.file()));
}

TEST(ImportLimits, LetTilesTakeNoMemoryForEachRepeat) {
  OnnxBytes bytes = with_input(1);
  bytes.initializer("repeats", integers({1, 1, 1 << 20}));
  const std::string file = add_nodes(bytes, 100, "Tile", {"x", "repeats"}).file();
  const std::uint64_t before = heap_bytes();
  EXPECT_NO_THROW(imported(file));
  EXPECT_LT(heap_bytes() - before, std::uint64_t{1} << 24);
}

TEST(ImportLimits, LeaveRoomForAMaskThatIsComputedFromTheNumberOfSamples) {
  constexpr std::int64_t length = 1024;
  OnnxBytes bytes = with_text(length);
  bytes.initializer("zero", number(0)).initializer("one", number(1));
  bytes.initializer("all", number(length * length))
      .initializer("last", number(length * length - 1));
  bytes.initializer("square", integers({length, length}));
  bytes.node({"Shape", {"x"}, {"shape"}}).node({"Gather", {"shape", "zero"}, {"samples"}});
  bytes.node({"Mul", {"samples", "zero"}, {"nothing"}});
  bytes.node({"Range", {"nothing", "all", "one"}, {"places"}});
  bytes.node({"Reshape", {"places", "square"}, {"matrix"}});
  bytes.node({"Less", {"matrix", "last"}, {"mask"}});
  std::string x = "x";
  for (int layer = 0; layer < 48; ++layer) x = add_attention(bytes, x, "mask", layer);
  expect_attentions(bytes, x, 48);
}

TEST(ImportLimits, CompareWhatIsKnownWhereItIsMadeAlone) {
  ComputedCount count;
  Imported equal{.known = {integers({1}), integers({1})}},
      other{.known = {integers({1}), integers({2})}};
  EXPECT_THROW(NetworkImport::settled(equal), MixedSamples);
  join_equal(equal.known, count);
  join_equal(other.known, count);
  EXPECT_NO_THROW(NetworkImport::settled(equal));
  EXPECT_THROW(NetworkImport::settled(other), MixedSamples);
}

TEST(ImportLimits, DoNotCountTheElementsThatTwoTensorsShareWithAnInput) {
  constexpr std::int64_t count = 1 << 20;
  OnnxBytes bytes = with_input(1);
  bytes.output("y").initializer("last", number(count - 1)).initializer("list", integers({count}));
  bytes.initializer("square", integers({1024, 1024})).initializer("rest", integers({-1, 1}));
  bytes.initializer("first", integers({0})).node({"Shape", {"x"}, {"shape"}});
  bytes.node({"Gather", {"shape", "first"}, {"samples"}});
  bytes.node({"Range", {"zero", "last", "one"}, {"numbers"}});
  bytes.node({"Concat", {"numbers", "samples"}, {"c0"}, {{"axis", std::int64_t{0}}}});
  for (int i = 0; i < 300; ++i)
    bytes.node({"Reshape",
                {"c" + std::to_string(i), i % 2 == 0 ? "square" : "list"},
                {"c" + std::to_string(i + 1)}});
  bytes.node({"Gather", {"c300", "last"}, {"size"}}).node({"Unsqueeze", {"size", "first"}, {"n"}});
  bytes.node({"Concat", {"n", "rest"}, {"to"}, {{"axis", std::int64_t{0}}}});
  bytes.node({"Reshape", {"x", "to"}, {"y"}});
  EXPECT_NO_THROW(imported(bytes.file()));
}

TEST(ImportLimits, CompareTensorsOfDifferentDimensionsWhereTheseBecomeTheSame) {
  OnnxBytes bytes = with_input(1);
  bytes.output("y").initializer("six", integers({6})).initializer("first", integers({0}));
  bytes.node({"Shape", {"x"}, {"shape"}}).node({"Gather", {"shape", "first"}, {"samples"}});
  bytes.node({"Div", {"six", "samples"}, {"rest"}});
  bytes.node({"Concat", {"samples", "rest"}, {"to"}, {{"axis", std::int64_t{0}}}});
  bytes.node({"ConstantOfShape", {"to"}, {"zeros"}}).node({"Reshape", {"zeros", "six"}, {"list"}});
  bytes.node({"Add", {"x", "list"}, {"y"}});
  EXPECT_NO_THROW(imported(bytes.file()));
}

/// Returns how many bytes the import asks for that adds zeros of the dimensions "sizes" to the
/// input x [batch,512,512], where `node` makes "sizes".
std::uint64_t bytes_of_zeros(const OnnxNodeBytes& node) {
  OnnxBytes bytes;
  bytes.input("x", {"batch", 512, 512}).output("y").node(node);
  bytes.node({"ConstantOfShape", {"sizes"}, {"zeros"}}).node({"Add", {"x", "zeros"}, {"y"}});
  const std::string file = bytes.file();
  const std::uint64_t before = heap_bytes();
  EXPECT_NO_THROW(imported(file));
  return heap_bytes() - before;
}

TEST(ImportLimits, LetSizesThatAreTheSameForBothNumbersOfSamplesMakeOneTensor) {
  const std::vector<std::int64_t> sizes{512, 512};
  EXPECT_LT(bytes_of_zeros({"Shape", {"x"}, {"sizes"}, {{"start", std::int64_t{1}}}}),
            bytes_of_zeros({"Constant", {}, {"sizes"}, {{"value_ints", sizes}}}) + (1 << 19));
}

/// Returns how many bytes are asked for until a file is refused as corrupt.
std::uint64_t bytes_until_refused(const std::string& file, const std::string& expected_text) {
  const std::uint64_t before = heap_bytes();
  EXPECT_EQ(refused(Errc::corrupt_file, file), expected_text);
  return heap_bytes() - before;
}

TEST(ImportLimits, AskForTheNumberOfElementsBeforeTheyAreRead) {
  constexpr std::int64_t count = 1 << 20;
  OnnxBytes resize = with_input(1), norm = with_input(4);
  resize.output("y").initializer("many", integers({count})).initializer("two", Tensor({}, {2}));
  resize.node({"Expand", {"two", "many"}, {"scales"}});
  resize.node({"Resize", {"x", "", "scales"}, {"y"}, {}, "n"});
  EXPECT_LT(bytes_until_refused(resize.file(),
                                "Resize \"n\": expected a scale or a size for each axis, which "
                                "makes 3 of them, got 1048576"),
            count * sizeof(float) + (1 << 20));

  norm.output("y").initializer("many", integers({count})).initializer("nine", integers({9}));
  for (const std::string name : {"weight", "bias", "eps"})
    norm.initializer(name, Tensor({4}, {1, 1, 1, 1}));
  norm.node({"Expand", {"nine", "many"}, {"axes"}});
  norm.node({"ReduceMean", {"x", "axes"}, {"mean"}, {}, "n"}).node({"Sub", {"x", "mean"}, {"d"}});
  norm.node({"Mul", {"d", "d"}, {"square"}}).node({"ReduceMean", {"square", "axes"}, {"variance"}});
  norm.node({"Add", {"variance", "eps"}, {"sum"}}).node({"Sqrt", {"sum"}, {"deviation"}});
  norm.node({"Div", {"d", "deviation"}, {"normalized"}});
  norm.node({"Mul", {"normalized", "weight"}, {"scaled"}}).node({"Add", {"scaled", "bias"}, {"y"}});
  EXPECT_LT(
      bytes_until_refused(norm.file(18), "ReduceMean \"n\": expected an axis from -3 to 2, got 9"),
      2 * count * sizeof(std::int64_t) + (1 << 20));
}

/// Returns how many bytes the import of a chain of nodes asks for whose first one joins `inputs`
/// inputs.
std::uint64_t bytes_of_chain(int inputs) {
  OnnxBytes bytes;
  std::vector<std::string> names;
  for (int i = 0; i < inputs; ++i) {
    names.push_back("x" + std::to_string(i));
    bytes.input(names.back(), {"batch", 1});
  }
  bytes.node({"Concat", names, {"n"}, {{"axis", std::int64_t{1}}}});
  std::string last = "n";
  for (int i = 0; i < 2000; ++i) {
    const std::string next = "n" + std::to_string(i);
    bytes.node({"Relu", {last}, {next}});
    last = next;
  }
  const std::string file = bytes.output(last).file();
  const std::uint64_t before = heap_bytes();
  EXPECT_NO_THROW(imported(file));
  return heap_bytes() - before;
}

/// Returns how many bytes the import of 2000 sums of two values asks for, the first of which
/// depends on one half of `inputs` inputs, and the second on the other half.
std::uint64_t bytes_of_sums(int inputs) {
  OnnxBytes bytes;
  std::vector<std::string> halves[2], sums;
  for (int i = 0; i < inputs; ++i) {
    const std::string name = "x" + std::to_string(i);
    bytes.input(name, {"batch", 1});
    halves[i % 2].push_back(name);
  }
  for (const int half : {0, 1})
    bytes.node({"Concat", halves[half], {"h" + std::to_string(half)}, {{"axis", std::int64_t{1}}}});
  for (int i = 0; i < 2000; ++i) {
    sums.push_back("s" + std::to_string(i));
    bytes.node({"Add", {"h0", "h1"}, {sums.back()}});
  }
  bytes.node({"Concat", sums, {"y"}, {{"axis", std::int64_t{1}}}}).output("y");
  const std::string file = bytes.file();
  const std::uint64_t before = heap_bytes();
  EXPECT_NO_THROW(imported(file));
  return heap_bytes() - before;
}

/// Returns how many bytes the import of a sum of `count` inputs asks for.
std::uint64_t bytes_of_sum(std::size_t count) {
  OnnxBytes bytes;
  bytes.input("x", {"batch", 1}).output("y");
  bytes.node({"Sum", std::vector<std::string>(count, "x"), {"y"}});
  const std::string file = bytes.file();
  const std::uint64_t before = heap_bytes();
  EXPECT_NO_THROW(imported(file));
  return heap_bytes() - before;
}

TEST(ImportLimits, LetSumsListTheirInputsOnce) {
  EXPECT_LT(bytes_of_sum(8000), 3 * bytes_of_sum(4000));
}

TEST(ImportLimits, LetNodesTakeNoMemoryForEachInputThatTheyDependOn) {
  constexpr std::uint64_t bytes_of_inputs = 1 << 24;
  EXPECT_LT(bytes_of_chain(400), bytes_of_chain(2) + bytes_of_inputs);
  EXPECT_LT(bytes_of_sums(400), bytes_of_sums(2) + bytes_of_inputs);
}

/// Returns a graph with the constant c [2048,2048], of which the nodes "n0" to "n99" make outputs.
/// Before them, `readers` nodes read all elements of c.
OnnxBytes with_readers(const std::string& op_type, const std::vector<std::string>& more_inputs,
                       const Settings& settings, int readers = 0) {
  OnnxBytes bytes = with_input(1);
  bytes.initializer("c", Tensor::zeros(DType::u8, {2048, 2048}));
  bytes.initializer("numbers", integers({0, 7})).initializer("ends", integers({16, 16}));
  bytes.initializer("square", integers({2048, 2048}));
  for (int i = 0; i < readers; ++i)
    bytes.node({"ReduceMax", {"c"}, {"r" + std::to_string(i)}}).output("r" + std::to_string(i));
  std::vector<std::string> inputs{"c"};
  inputs.insert(inputs.end(), more_inputs.begin(), more_inputs.end());
  return add_nodes(bytes, 100, op_type, inputs, settings);
}

TEST(ImportLimits, CountTheElementsThatNodesReadAndNoOthers) {
  const std::string text = refused(Errc::unsupported, with_readers("ReduceMax", {}, {}).file());
  EXPECT_TRUE(text.ends_with(": " + too_much_work)) << text;
  const Settings to_u8{{"to", std::int64_t{2}}};
  EXPECT_NO_THROW(imported(with_readers("Slice", {"numbers", "ends"}, {}).file()));
  EXPECT_NO_THROW(imported(with_readers("Gather", {"numbers"}, {}).file()));
  EXPECT_NO_THROW(imported(with_readers("Expand", {"square"}, {}).file()));
  // The nodes in front leave less than c has.
  EXPECT_NO_THROW(imported(with_readers("Cast", {}, to_u8, 63).file()));
}

TEST(ImportLimits, CountTheElementsThatRefusedNodesRead) {
  OnnxBytes bytes = with_input(1);
  bytes.node({"Det", {"x"}, {"d"}, {}, "det"}).output("d");
  bytes.node({"Range", {"zero", "longest", "one"}, {"c"}});
  add_nodes(bytes, 100, "Reshape", {"zero", "c"});
  EXPECT_EQ(refused(Errc::unsupported, bytes.file()),
            "these nodes cannot be imported: Det (\"det\"): Penstock does not have this operator; "
            "Reshape (\"n63\"): " +
                too_much_work + export_advice);
}

/// Returns a graph with `count` recurrent nodes over 2^22 sequences of one step, whose lengths and
/// initial states are known.
OnnxBytes with_recurrent_nodes(int count) {
  OnnxBytes bytes;
  bytes.input("x", {1, longest, 1}).initializer("w", counted({1, 1, 1}));
  bytes.initializer("row", integers({longest})).initializer("rows", integers({1, longest, 1}));
  bytes.node({"ConstantOfShape", {"row"}, {"lengths"}, {{"value", integers({1})}}});
  bytes.node({"ConstantOfShape", {"rows"}, {"states"}});
  return add_nodes(bytes, count, "RNN", {"x", "w", "w", "", "lengths", "states"});
}

TEST(ImportLimits, CountTheElementsOfLengthsAndInitialStatesOnceForEachNode) {
  EXPECT_NO_THROW(imported(with_recurrent_nodes(30).file()));
  const std::string text = refused(Errc::unsupported, with_recurrent_nodes(40).file());
  EXPECT_TRUE(text.ends_with(": " + too_much_work)) << text;
}

}  // namespace
}  // namespace penstock::testing
