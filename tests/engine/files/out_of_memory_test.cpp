// In these tests each allocation fails in turn while something is read or written. The host gets
// Error out_of_memory, each file is whole, either old or new, and nothing is left behind.
#include "graph/values/out_of_memory.hpp"

#include <gtest/gtest.h>

#include <exception>
#include <filesystem>
#include <functional>
#include <iterator>
#include <map>

#include "engine/files/weights_file.hpp"
#include "engine/plan_cache/compile_cached.hpp"
#include "engine/plan_cache/plan_cache.hpp"
#include "graph/ir/graph.hpp"
#include "penstock/chrome_trace.hpp"
#include "penstock/data_loader_json.hpp"
#include "penstock/dataset.hpp"
#include "penstock/error.hpp"
#include "penstock/json_value.hpp"
#include "penstock/optimizer_json.hpp"
#include "penstock/options_json.hpp"
#include "penstock/output_file.hpp"
#include "penstock/safetensors.hpp"
#include "tests/support/allocation_counter.hpp"
#include "tests/support/idx_bytes.hpp"
#include "tests/support/random_network.hpp"
#include "tests/support/temporary_directory.hpp"

namespace penstock {
namespace {

using testing::AllocationFailures;
using testing::file_content;
using testing::TemporaryDirectory;
using testing::write_file;

std::ptrdiff_t open_files() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
}

struct Attempt {
  bool reached = false;  ///< If this is true, an allocation failed.
  bool refused = false;
  std::string raw = {};  ///< This is the text of an exception that is no Error out_of_memory.
};

/// Calls `action` while `count` allocations fail, beginning with number `first`.
Attempt attempt(const std::function<void()>& action, std::int64_t first, std::int64_t count) {
  Attempt result;
  std::exception_ptr thrown;
  {
    const AllocationFailures failures(first, count);
    try {
      action();
    } catch (...) {
      thrown = std::current_exception();
    }
    result.reached = failures.reached();
  }
  try {
    if (thrown) std::rethrow_exception(thrown);
  } catch (const Error& error) {
    result.refused = error.code() == Errc::out_of_memory;
    if (!result.refused) result.raw = std::string(to_string(error.code())) + ": " + error.what();
  } catch (const std::exception& error) {
    result.raw = error.what();
  }
  return result;
}

/// Calls `action` with each `stride`-th of its allocations failing in turn, alone and with all that
/// follow, and calls `check` each time to check what is left. Returns how often `action` was
/// refused.
int refusals_of(
    const std::function<void()>& action, const std::function<void()>& check = [] {},
    std::int64_t stride = 1) {
  action();  // The first call allocates what is allocated only once in a process.
  int refusals = 0;
  const auto files_before = open_files();
  for (const std::int64_t count : {std::int64_t{1}, std::int64_t{1} << 40})
    for (std::int64_t first = 1;; first += stride) {
      const Attempt result = attempt(action, first, count);
      EXPECT_EQ(result.raw, "") << "allocation " << first << " of " << count;
      refusals += result.refused;
      check();
      if (!result.reached) break;
    }
  EXPECT_EQ(open_files(), files_before);
  return refusals;
}

TEST(OutOfMemory, HasATextEvenWithoutMemoryForOne) {
  const Attempt lasting = attempt([] { throw_out_of_memory("a name that takes memory to hold"); },
                                  1, std::int64_t{1} << 40);
  EXPECT_TRUE(lasting.refused);
  EXPECT_EQ(lasting.raw, "");
}

Options many_options() {
  Options options;
  options.topology.stages = {{.blocks = {"a block with a long name", "b"}}, {.blocks = {"c"}}};
  options.output.anchors = {{.name = "an anchor with a long name", .tensor = "another long name"}};
  return options;
}

TEST(OutOfMemory, IsToldByWhateverReadsAndWritesJson) {
  const Options many = many_options();
  const Optimizer lamb(Lamb{});
  const std::string options = to_json(many), optimizer = to_json(lamb),
                    loader = to_json(DataLoaderOptions{});
  EXPECT_GT(refusals_of([&] { to_json(parse_json(options)); }), 50);
  EXPECT_GT(refusals_of([&] { to_json(many); }), 50);
  EXPECT_GT(refusals_of([&] { options_from_json(options, many); }), 50);
  EXPECT_GT(refusals_of([&] { optimizer_from_json(optimizer, lamb); }), 20);
  EXPECT_GT(refusals_of([&] { data_loader_options_from_json(loader); }), 20);
  EXPECT_GT(refusals_of([&] { to_json(lamb); }), 10);
}

TEST(OutOfMemory, LeavesAnOutputFileWholeAndNothingElse) {
  const TemporaryDirectory directory;
  const std::string before(100'000, 'b'), after(100'000, 'a');
  const std::filesystem::path target = directory / "out";
  const auto replace = [&] {
    OutputFile file(target);
    file.write(after);
    file.commit();
  };
  write_file(target, before);
  const auto check = [&] {
    const std::string content = file_content(target);
    EXPECT_TRUE(content == before || content == after);
    EXPECT_EQ(directory.entries(), std::set<std::string>{"out"});
  };
  EXPECT_GT(refusals_of(replace, check), 5);
}

// If a host is told that a file could not be replaced, the old file is still there.
TEST(OutOfMemory, ReplacesNoFileAndThenSaysThatItCouldNot) {
  const TemporaryDirectory directory;
  const std::filesystem::path target = directory / "out";
  for (std::int64_t first = 1;; ++first) {
    write_file(target, "before");
    const auto replace = [&] {
      OutputFile file(target);
      file.write("after");
      file.commit();
    };
    const Attempt result = attempt(replace, first, 1);
    EXPECT_EQ(file_content(target), result.refused ? "before" : "after") << first;
    if (!result.reached) break;
  }
}

TEST(OutOfMemory, IsToldByWhateverReadsAndWritesWeights) {
  const TemporaryDirectory directory;
  WeightsFile weights;
  weights.metadata = {{"a key with a long name", "and a value with a long text"}};
  weights.tensors.emplace("a tensor with a long name", Tensor::zeros(DType::f32, {300}));
  weights.tensors.emplace("b", Tensor::zeros(DType::i64, {3}));
  const std::filesystem::path path = directory / "weights";
  EXPECT_GT(refusals_of([&] { write_weights_file(path, weights); }), 20);
  EXPECT_EQ(read_weights_file(path).tensors.size(), 2U);
  EXPECT_GT(refusals_of([&] { read_weights_file(path); }), 20);
  EXPECT_EQ(directory.entries(), std::set<std::string>{"weights"});
}

TEST(OutOfMemory, IsToldByWhateverReadsAndWritesTensorFiles) {
  const TemporaryDirectory directory;
  const std::string path = (directory / "tensors").string(), half = (directory / "half").string();
  const std::vector<NamedTensor> tensors{
      {"a tensor with a long name", Tensor::zeros(DType::f32, {300})},
      {"b", Tensor::zeros(DType::i64, {3})}};
  const std::map<std::string, std::string> metadata{{"key", "value"}};
  const std::string header = R"({"w":{"dtype":"F16","shape":[300],"data_offsets":[0,600]}})";
  const std::uint64_t size = header.size();
  write_file(half, std::string(reinterpret_cast<const char*>(&size), sizeof size) + header +
                       std::string(600, 'x'));
  EXPECT_GT(refusals_of([&] { save_safetensors(path, tensors, metadata); }), 20);
  EXPECT_GT(refusals_of([&] { load_safetensors(path); }), 20);
  EXPECT_GT(refusals_of([&] { load_safetensors(half); }), 10);
  EXPECT_EQ(directory.entries(), (std::set<std::string>{"half", "tensors"}));
}

TEST(OutOfMemory, IsToldByWhateverWritesATrace) {
  const TemporaryDirectory directory;
  const std::string path = (directory / "trace").string();
  const TraceEvent events[] = {{.ipu = 0}, {.ipu = 1}};
  EXPECT_GT(refusals_of([&] { write_chrome_trace(path, events); }), 20);
  EXPECT_EQ(directory.entries(), std::set<std::string>{"trace"});
}

TEST(OutOfMemory, IsToldByWhateverReadsImages) {
  const TemporaryDirectory directory;
  write_file(directory / "train-images-idx3-ubyte", testing::idx_bytes({30, 20, 20}));
  write_file(directory / "train-labels-idx1-ubyte.gz", testing::gzipped(testing::idx_bytes({30})));
  write_file(directory / "data_batch_1.bin", std::string(3 * 3073, '\0'));
  const std::string path = directory.path().string();
  EXPECT_GT(refusals_of([&] { read_idx(path, Split::train, {}); }), 10);
  EXPECT_GT(refusals_of([&] { read_cifar10(path, Split::train); }), 10);
}

TEST(OutOfMemory, CostsAPlanAtMostItsPlaceInTheCache) {
  const TemporaryDirectory directory;
  const graph::Graph model = testing::random_network(3).graph();
  const graph::CompileRequest request{.training = true, .batch = 2};
  RuntimeOptions options;
  options.cache_directory = directory.path().string();
  const auto compile = [&] { compile_cached(model, request, options); };
  EXPECT_GT(refusals_of(
                compile, [] {}, 3),
            3);  // The plan is read from the cache.
  const auto forget = [&] {
    EXPECT_LE(directory.entries().size(), 1U);
    for (const std::string& name : directory.entries()) std::filesystem::remove(directory / name);
  };
  forget();
  EXPECT_GT(refusals_of(compile, forget, 97), 10);
  EXPECT_FALSE(compile_cached(model, request, options).compiled.report.from_cache);
  EXPECT_TRUE(compile_cached(model, request, options).compiled.report.from_cache);
}

}  // namespace
}  // namespace penstock
