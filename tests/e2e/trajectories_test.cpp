// D12 of docs/reference.md: these tests compare training runs with PyTorch's, micro-batch by
// micro-batch. The two agree in f32, up to rounding.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <string_view>

#include "apps/networks/networks.hpp"
#include "tests/support/data_path.hpp"
#include "tests/support/reference_file.hpp"
#include "tests/support/training_run.hpp"

namespace penstock::testing {
namespace {

struct Trajectory {
  const char* file;
  const char* data;  ///< This is the name of a folder under tests/data.
  Optimizer optimizer;
};

std::ostream& operator<<(std::ostream& out, const Trajectory& t) {
  return out << t.file;
}

class Trajectories : public ::testing::TestWithParam<Trajectory> {};

double largest(const Tensor& tensor) {
  double most = 0;
  for (const float value : tensor.as<float>()) most = std::max(most, std::abs(double{value}));
  return most;
}

/// A Parted counts the elements that differ by more than `tolerance` times the largest magnitude of
/// their tensor, and has the largest of these differences.
struct Parted {
  double tolerance;
  std::size_t of = 0;
  std::size_t count = 0;
  double most = 0;

  void compare(const Tensor& actual, const Tensor& expected) {
    ASSERT_EQ(actual.shape(), expected.shape());
    of += actual.as<float>().size();
    const double limit = tolerance * largest(expected);
    for (std::size_t i = 0; i < actual.as<float>().size(); ++i) {
      const double error = std::abs(double{actual.as<float>()[i]} - expected.as<float>()[i]);
      if (error <= limit) continue;
      ++count;
      most = std::isnan(error) ? HUGE_VAL : std::max(most, error);
    }
  }
};

/// Returns whether a run by `optimizer` rounds as PyTorch's does. PyTorch multiplies and adds with
/// one rounding, as every instruction set but the portable one does. On the portable one, a sum
/// near a ReLU's kink, or a gradient near zero, can have the other sign. Adam divides a gradient by
/// its size, so that its steps then differ much.
bool rounds_as_pytorch(const Optimizer& optimizer) {
  const char* isa = std::getenv("PENSTOCK_ISA");
  return !isa || std::string_view(isa) != "portable" ||
         !std::holds_alternative<AdamW>(optimizer.settings);
}

/// Returns the largest change that rounding may make, relative to a tensor's largest magnitude or
/// to a loss. Adam's division makes this change larger.
double tolerance_of(const Optimizer& optimizer) {
  if (!std::holds_alternative<AdamW>(optimizer.settings)) return 2e-5;
  return rounds_as_pytorch(optimizer) ? 5e-5 : 2e-4;
}

void expect_close(const TrainingRun& run, const ReferenceFile& reference,
                  const Optimizer& optimizer) {
  Parted parted{.tolerance = tolerance_of(optimizer)};
  for (const auto& [name, weight] : run.weights)
    parted.compare(weight, reference.tensors.at("final." + name));
  if (rounds_as_pytorch(optimizer)) {
    EXPECT_EQ(parted.count, 0u) << "by up to " << parted.most;
  } else {
    EXPECT_LE(500 * parted.count, parted.of) << "by up to " << parted.most;
    EXPECT_LE(parted.most, 0.1 * optimizer.learning_rate());
  }
}

// F1, F6, F7, F10 and F11 of docs/reference.md: each network is trained by AdamW or by SGD with
// momentum.
TEST_P(Trajectories, FollowsPyTorchInLossesAndWeights) {
  const ReferenceFile reference =
      read_reference(data_path(std::string("trajectories/") + GetParam().file));
  const auto number = [&](const char* key) { return std::stoi(reference.metadata.at(key)); };
  const networks::Network& network = networks::find_network(reference.metadata.at("model"));
  const Model model = [&] {
    Model fresh = network.build(0);
    for (const ParameterInfo& parameter : fresh.parameters())
      fresh.set_weight(parameter.name, reference.tensors.at("init." + parameter.name));
    return fresh;
  }();
  Options options{.batch_size = number("batch_size"), .device_iterations = 5};
  options.training.gradient_accumulation = number("gradient_accumulation");
  const auto dataset = read_idx(data_path(GetParam().data), Split::train, network.normalization);

  const TrainingRun run =
      train(model, options, GetParam().optimizer, all_samples(*dataset), number("updates"));

  const auto losses = reference.tensors.at("losses").as<float>();
  ASSERT_EQ(run.losses.size(), losses.size());
  const double tolerance = tolerance_of(GetParam().optimizer);
  for (std::size_t i = 0; i < losses.size(); ++i)
    EXPECT_NEAR(run.losses[i], losses[i], tolerance * std::abs(losses[i])) << "micro-batch " << i;
  expect_close(run, reference, GetParam().optimizer);
}

INSTANTIATE_TEST_SUITE_P(PyTorch, Trajectories,
                         ::testing::Values(Trajectory{"mnist_cnn_adamw.safetensors", "mnist",
                                                      AdamW{.learning_rate = 0.001}},
                                           Trajectory{"fashion_cnn_sgd_momentum.safetensors",
                                                      "fashion",
                                                      Sgd{.learning_rate = 0.001, .momentum = 0.9}},
                                           Trajectory{"mlp_sgd_momentum.safetensors", "mnist",
                                                      Sgd{.learning_rate = 0.01, .momentum = 0.9}}),
                         [](const auto& info) {
                           const std::string file = info.param.file;
                           return file.substr(0, file.find('.'));
                         });

}  // namespace
}  // namespace penstock::testing
