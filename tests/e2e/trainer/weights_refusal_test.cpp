// The trainer refuses these runs because of the weights or the optimizer state to start from.

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "engine/files/weights_file.hpp"
#include "tests/e2e/trainer/refusal.hpp"

namespace penstock::testing {
namespace {

Arguments starting_from(const std::filesystem::path& weights) {
  return {"--dataset",      "synthetic",    "--model", "mlp",           "--init-weights",
          weights.string(), "--batch-size", "8",       "--max-updates", "1"};
}

/// Writes weights of the network, as the trainer itself writes them.
void write_good_weights(const std::filesystem::path& path) {
  const CommandResult result = train({"--dataset", "synthetic", "--model", "mlp", "--batch-size",
                                      "8", "--max-updates", "1", "--save-weights", path.string()});
  ASSERT_EQ(result.code, 0) << result.err;
}

TEST(TrainerWeights, AreAcceptedIfNothingIsWrongWithThem) {
  const TemporaryDirectory directory;
  write_good_weights(directory / "weights");
  write_weights_file(directory / "weights", read_weights_file(directory / "weights"));
  const CommandResult result = train(starting_from(directory / "weights"));
  EXPECT_EQ(result.code, 0) << result.err;
}

/// Returns a run from a weights file that was right until `change` changed it.
BadRun changed(const std::function<void(std::map<std::string, Tensor>&)>& change) {
  return [=](const TemporaryDirectory& inputs) {
    const auto path = inputs / "weights";
    write_good_weights(path);
    WeightsFile weights = read_weights_file(path);
    change(weights.tensors);
    write_weights_file(path, weights);
    return starting_from(path);
  };
}

/// Returns a run from weights with `number` at one position of one tensor.
BadRun with_number(const char* name, std::size_t position, float number) {
  return changed([=](auto& tensors) {
    Tensor& tensor = tensors.at(name);
    std::vector<float> values(tensor.template as<float>().begin(),
                              tensor.template as<float>().end());
    values.at(position) = number;
    tensor = Tensor(tensor.shape(), std::span<const float>(values));
  });
}

BadRun file_of(const std::string& bytes) {
  return [=](const TemporaryDirectory& inputs) {
    write_file(inputs / "weights", bytes);
    return starting_from(inputs / "weights");
  };
}

Arguments no_file(const TemporaryDirectory&) {
  return starting_from("/nowhere/weights");
}

/// Returns `size` as eight bytes, the lowest one first.
std::string size_bytes(std::uint64_t size) {
  std::string bytes;
  for (int shift = 0; shift < 64; shift += 8) bytes += static_cast<char>(size >> shift & 0xFF);
  return bytes;
}

std::string two_tensors_at_one_place() {
  const std::string header = R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                             R"("b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
  return size_bytes(header.size()) + header + std::string(4, '\0');
}

const std::string file = "/weights\"";

const std::vector<Refusal> weights_refusals{
    {"MissingFile", no_file, "penstock-train: --init-weights: weights file \"/nowhere/weights\""},
    {"MissingTensor", changed([](auto& tensors) { tensors.erase("dense64.bias"); }),
     "\"dense64.bias\""},
    {"ExtraTensor",
     changed([](auto& tensors) { tensors["dense16.bias"] = Tensor::zeros(DType::f32, {16}); }),
     "\"dense16.bias\""},
    {"MisshapenTensor", changed([](auto& tensors) {
       tensors["dense64.bias"] = Tensor::zeros(DType::f32, {8, 8});
     }),
     "\"dense64.bias\""},
    {"NotANumber", with_number("dense64.bias", 63, std::nanf("")),
     "/weights\", got infinity or nan in tensor \"dense64.bias\""},
    {"Infinite", with_number("logits.weight", 0, -HUGE_VALF), "\"logits.weight\""},
    {"OverlappingTensors", file_of(two_tensors_at_one_place()), "\"b\""},
    {"HugeHeader", file_of(size_bytes(1'000'000'000'000'000'000) + "{}"), "1000000000000000000"},
    {"EmptyFile", file_of(""), file},
    {"NoWeights", file_of("these are no weights at all"), file}};

INSTANTIATE_TEST_SUITE_P(Weights, TrainerRefusal, ::testing::ValuesIn(weights_refusals),
                         refusal_name);

const Arguments one_update{"--dataset",    "synthetic", "--model",       "mlp",
                           "--batch-size", "8",         "--max-updates", "1"};

/// Returns a run from an optimizer's state that was right until `change` changed its file.
BadRun with_state(const std::function<void(const std::filesystem::path&)>& change) {
  return [=](const TemporaryDirectory& inputs) {
    const auto path = inputs / "state";
    expect_success(train(one_update + Arguments{"--save-optimizer-state", path.string()}));
    change(path);
    return one_update + Arguments{"--init-optimizer-state", path.string()};
  };
}

void truncate(const std::filesystem::path& path) {
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1);
}

void spoil(const std::filesystem::path& path) {
  WeightsFile state = read_weights_file(path);
  const std::vector<float> values(64, std::nanf(""));
  state.tensors.at("dense64.bias.exp_avg") = Tensor({64}, std::span<const float>(values));
  write_weights_file(path, state);
}

Arguments no_state(const TemporaryDirectory& inputs) {
  return one_update + Arguments{"--init-optimizer-state", inputs.path().string()};
}

const std::vector<Refusal> state_refusals{
    {"Directory", no_state, "penstock-train: --init-optimizer-state: optimizer state file \""},
    {"TruncatedFile", with_state(truncate),
     "penstock-train: --init-optimizer-state: optimizer state file \""},
    {"NotANumber", with_state(spoil),
     "tensor \"dense64.bias.exp_avg\": expected finite numbers, got nan as element 0"}};

INSTANTIATE_TEST_SUITE_P(OptimizerStates, TrainerRefusal, ::testing::ValuesIn(state_refusals),
                         refusal_name);

}  // namespace
}  // namespace penstock::testing
