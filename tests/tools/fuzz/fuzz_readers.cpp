// This program fuzzes the readers of bytes from outside, except for those of files of data, which
// fuzz_data.cpp has. The test suite runs it for a short time; a long run is
//
//   build-test/tests/tools/fuzz/fuzz_readers --seconds 600 [--seed S] [READER...]
//
// where --seconds is the time for each reader. scripts/fuzz makes a long run under the sanitizers.
// A defect is printed with the options that repeat its draw. The readers are weights,
// weights_header, checkpoint, checkpoint_files, json_value, options_json, optimizer_json,
// loader_json, plan_codec, plan_cache, envelope, onnx and onnx_tensor.
#include <cstring>
#include <functional>
#include <memory>

#include "engine/checkpoint/checkpoint_content.hpp"
#include "engine/files/weights_file.hpp"
#include "engine/files/weights_header.hpp"
#include "engine/onnx/import/computed_count.hpp"
#include "engine/plan_cache/plan_cache.hpp"
#include "graph/codec/plan_codec.hpp"
#include "graph/compile/compile.hpp"
#include "penstock/data_loader_json.hpp"
#include "penstock/error.hpp"
#include "penstock/json_value.hpp"
#include "penstock/model.hpp"
#include "penstock/onnx.hpp"
#include "penstock/optimizer_json.hpp"
#include "penstock/options_json.hpp"
#include "tests/engine/files/byte_reader.hpp"
#include "tests/support/data_path.hpp"
#include "tests/support/onnx_bytes.hpp"
#include "tests/support/random_network.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/tools/fuzz/bounded_reader.hpp"
#include "tests/tools/fuzz/checkpoint_files.hpp"
#include "tests/tools/fuzz/fuzzed_envelope.hpp"
#include "tests/tools/fuzz/hostile_onnx.hpp"

namespace penstock::testing {
namespace {

const std::vector<std::string> json_words{"{",
                                          "}",
                                          "[",
                                          "]",
                                          ":",
                                          ",",
                                          "\"",
                                          "\\u0041",
                                          "\\ud83d",
                                          "true",
                                          "null",
                                          "1e999",
                                          "1e9223372036854775807",
                                          "-0",
                                          "0.1"};

std::vector<std::string> with_json_words(std::vector<std::string> words) {
  words.insert(words.end(), json_words.begin(), json_words.end());
  return words;
}

WeightsFile small_weights() {
  WeightsFile weights;
  weights.metadata = {{"rule", "adam"}};
  weights.tensors.emplace("fc.weight", Tensor::zeros(DType::f32, {2, 3}));
  weights.tensors.emplace("step", Tensor::zeros(DType::i64, {}));
  weights.tensors.emplace("empty", Tensor::zeros(DType::f32, {0, 4}));
  return weights;
}

std::string weights_bytes() {
  const TemporaryDirectory directory;
  write_weights_file(directory / "weights", small_weights());
  return file_content(directory / "weights");
}

/// Returns a safetensors file of `header`, with `data` behind it.
std::string weights_of(const std::string& header, const std::string& data) {
  const std::uint64_t size = header.size();
  return std::string(reinterpret_cast<const char*>(&size), sizeof size) + header + data;
}

/// Returns a file with tensors of the types that are converted when they are read.
std::string converted_weights_bytes() {
  const std::string header = R"({"d":{"dtype":"F64","shape":[2],"data_offsets":[0,16]},)"
                             R"("h":{"dtype":"F16","shape":[3],"data_offsets":[16,22]},)"
                             R"("b":{"dtype":"BF16","shape":[],"data_offsets":[22,24]}})";
  return weights_of(header, std::string(24, '\x3f'));
}

/// Returns a header with one tensor of `shape`, whose bytes are `offsets`.
std::string tensor_header(const std::string& shape, const std::string& offsets) {
  return R"({"w":{"dtype":"F32","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}}";
}

std::vector<std::string> hostile_weights_headers() {
  const std::string tensor = R"({"dtype":"F32","shape":[1],"data_offsets":[0,4]})";
  return {tensor_header("[4611686018427387904,4]", "[0,0]"),
          tensor_header("[9223372036854775808]", "[0,4]"),
          tensor_header("[-1]", "[0,4]"),
          tensor_header("[1]", "[4,0]"),
          tensor_header("[1]", "[0,18446744073709551616]"),
          tensor_header("[1099511627776]", "[0,4398046511104]"),
          R"({"w":)" + tensor + R"(,"w":)" + tensor + "}",
          R"({"v":)" + tensor + R"(,"w":)" + tensor + "}",
          R"({"__metadata__":{"a":1}})",
          R"({"w":)" + std::string(100'000, '[')};
}

std::vector<std::string> hostile_weights() {
  std::vector<std::string> files{"\xff\xff\xff\xff\xff\xff\xff\x7f{}", "\1", "",
                                 weights_of("{}", "abc")};
  for (const std::string& header : hostile_weights_headers())
    files.push_back(weights_of(header, "abcd"));
  return files;
}

FuzzedReader weights() {
  return {.name = "weights",
          .seeds = {weights_bytes(), converted_weights_bytes()},
          .words = with_json_words({"F32", "I64", "F16", "BF16", "F64", "shape", "dtype",
                                    "data_offsets", "__metadata__"}),
          .read = [](const std::string& bytes) { weights_in(bytes); },
          .hostile = hostile_weights()};
}

/// Returns a reader of the text with the numbers of a checkpoint. The checksum is always right,
/// because no mutation would get past it.
FuzzedReader checkpoint() {
  Checkpoint example{.updates = 3, .weights = {{"w", Tensor::zeros(DType::f32, {2})}}};
  example.replica_buffers = {{{"b", Tensor::zeros(DType::f32, {1})}}};
  example.states["fit"] = {.texts = {{"k", "v"}}};
  const WeightsFile content = content_of(example);
  return {"checkpoint",
          {content.metadata.at(heading_key)},
          with_json_words({"updates", "epoch", "batches", "states", "replicas_with_buffers"}),
          [content](const std::string& text) {
            WeightsFile changed = content;
            changed.metadata[heading_key] = text;
            changed.metadata[checksum_key] = checksum_of(changed);
            checkpoint_of(std::move(changed), "a checkpoint");
          }};
}

FuzzedReader weights_header() {
  const std::string bytes = weights_bytes();
  std::uint64_t size = 0;
  std::memcpy(&size, bytes.data(), sizeof size);
  const std::uint64_t data = bytes.size() - sizeof size - size;
  return {.name = "weights_header",
          .seeds = {bytes.substr(sizeof size, size)},
          .words = with_json_words({"F32", "I64", "F16", "BF16", "F64", "shape", "dtype",
                                    "data_offsets", "__metadata__"}),
          .read = [data](const std::string& text) { parse_weights_header(text, data); },
          .hostile = hostile_weights_headers()};
}

FuzzedReader json(const std::string& name, const std::string& seed,
                  const std::function<void(const std::string&)>& read) {
  const std::string deep(100'000, '['), long_number(100'000, '9');
  return bounded(
      {.name = name,
       .seeds = {seed},
       .words = json_words,
       .read = read,
       .hostile = {deep, R"({"a":)" + deep, "{\"a\":\"\\ud800\"}", long_number + "e" + long_number,
                   seed + seed, seed.substr(0, seed.size() / 2)}},
      64);
}

Options many_options() {
  Options options;
  options.topology.stages = parse_stages("a,b|c");
  options.output.anchors = {{.name = "x", .tensor = "y"}};
  return options;
}

Optimizer many_settings() {
  Optimizer optimizer(Lamb{});
  optimizer.groups = {{.parameters = {"fc.*"}, .settings = Lamb{.learning_rate = 0.5}}};
  return optimizer;
}

std::string plan_bytes(std::uint64_t seed, bool training) {
  const graph::Graph model = random_network(seed).graph();
  return graph::encode(graph::compile(
      model, {.training = training, .batch = 3, .stages = {{{"B0", "B1"}}, {{"B2", "B3"}}}}));
}

FuzzedReader plan_cache() {
  const auto directory = std::make_shared<const TemporaryDirectory>();
  constexpr std::int64_t limit = std::int64_t{1} << 40;
  PlanCache(directory->path(), limit).write("key", "content");
  const std::filesystem::path entry = *directory / *directory->entries().begin();
  return {"plan_cache",
          {file_content(entry)},
          {"penstock plan, format ", "key", "content"},
          [directory, entry](const std::string& bytes) {
            write_file(entry, bytes);
            if (!PlanCache(directory->path(), limit).read("key"))
              throw Error(Errc::corrupt_file, "it is passed over");
          }};
}

/// Returns a small network that has operators of several kinds, and shapes that are computed.
std::string onnx_bytes() {
  OnnxBytes bytes;
  bytes.input("x", {"batch", 4}).output("y");
  bytes.initializer("w", Tensor::zeros(DType::f32, {6, 4}));
  bytes.node({"Gemm", {"x", "w"}, {"h"}, {{"transB", std::int64_t{1}}}, "fc"});
  bytes.node({"Shape", {"h"}, {"shape"}});
  bytes.initializer("zero", Tensor::zeros(DType::i64, {1}));
  bytes.node({"Gather", {"shape", "zero"}, {"batch"}});
  bytes.node({"Constant", {}, {"rest"}, {{"value_ints", std::vector<std::int64_t>{2, -1}}}});
  bytes.node({"Concat", {"batch", "rest"}, {"wanted"}, {{"axis", std::int64_t{0}}}});
  bytes.node({"Reshape", {"h", "wanted"}, {"r"}});
  bytes.node({"Transpose", {"r"}, {"t"}, {{"perm", std::vector<std::int64_t>{0, 2, 1}}}});
  bytes.node({"MatMul", {"r", "t"}, {"m"}});
  bytes.node({"Softmax", {"m"}, {"y"}, {{"axis", std::int64_t{-1}}}});
  return bytes.file();
}

/// An import computes constants and lists until they take `most_computed_bytes`, whatever the size
/// of the file, and a refused file is imported twice, the second time to find all refused nodes.
/// Memory that is given back counts here, too: that of a result that is too large, and, under a
/// sanitizer, which counts the memory of tensors, that of the integers and of the floats from which
/// each constant is made. The process itself never has more than `most_computed_bytes` of it.
constexpr std::uint64_t bytes_of_constants = 8 * most_computed_bytes;

FuzzedReader onnx() {
  return of_a_file(
      {.name = "onnx",
       .seeds = {onnx_bytes(), file_content(data_path("onnx/lstm2.onnx")),
                 file_content(data_path("onnx/cnn.onnx"))},
       .words = {"Gemm",   "Reshape", "Transpose", "Expand", "Tile",  "Range", "Resize", "Conv",
                 "Concat", "Slice",   "Gather",    "Split",  "LSTM",  "Pad",   "axis",   "perm",
                 "x",      "w",       "shape",     "y",      "batch", "value", "Where"},
       .read = [](const std::string& path) { Model::from_onnx(path); },
       .hostile = hostile_onnx()});
}

FuzzedReader onnx_tensor_file() {
  return of_a_file({.name = "onnx_tensor",
                    .seeds = {onnx_tensor("x", Tensor::zeros(DType::f32, {2, 3}))},
                    .read = [](const std::string& path) { load_onnx_tensor(path); }});
}

/// The training that goes on from a checkpoint asks for half of this, whatever the checkpoint has.
constexpr std::uint64_t bytes_of_training = std::uint64_t{48} << 20;

}  // namespace

std::vector<FuzzedReader> fuzzed_readers() {
  return {
      bounded(weights(), 64),
      bounded(weights_header(), 64),
      bounded(checkpoint(), 64),
      bounded(checkpoint_files(), 64, bytes_of_training),
      json("json_value", R"({"a": [1, -2.5e3, "\u00e9\ud83d\ude00"], "b": {"c": null, "d": true}})",
           [](const std::string& text) { to_json(parse_json(text)); }),
      json("options_json", to_json(many_options()),
           [](const std::string& text) { options_from_json(text); }),
      json("optimizer_json", to_json(many_settings()),
           [](const std::string& text) { optimizer_from_json(text); }),
      json("loader_json", to_json(DataLoaderOptions{}),
           [](const std::string& text) { data_loader_options_from_json(text); }),
      bounded({.name = "plan_codec",
               .seeds = {plan_bytes(1, true), plan_bytes(2, false)},
               .read = [](const std::string& bytes) { graph::decode(bytes); }},
              64),
      bounded(plan_cache(), 64),
      bounded(fuzzed_envelope(), 64),
      bounded(onnx(), 64, bytes_of_constants),
      bounded(onnx_tensor_file(), 64),
  };
}

}  // namespace penstock::testing
