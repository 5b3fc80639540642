// These tests compare layers for sequences, images and volumes with PyTorch in double precision:
// what they compute, and their gradients. tests/tools/pytorch_spatial.py makes the reference.
#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "tests/support/data_path.hpp"
#include "tests/support/reference_file.hpp"
#include "tests/support/same_bits.hpp"
#include "tests/support/training_run.hpp"

namespace penstock::testing {
namespace {

using Build = std::function<Value(Model&, Value)>;

const ReferenceFile& reference() {
  static const ReferenceFile file = read_reference(data_path("spatial_layers.safetensors"));
  return file;
}

struct Row {
  const char* name;
  Build layer;  ///< A layer with parameters is called "layer".
};

void PrintTo(const Row& row, std::ostream* stream) {
  *stream << row.name;
}

const Row convolutions[] = {
    {"conv1d_reflect",
     [](Model& m, Value x) {
       return m.conv1d("layer", x,
                       {.out_channels = 6,
                        .kernel = 3,
                        .stride = 2,
                        .padding = 2,
                        .padding_mode = PadMode::reflect});
     }},
    {"conv1d_same",
     [](Model& m, Value x) {
       return m.conv1d(
           "layer", x,
           {.out_channels = 6, .kernel = 4, .dilation = 3, .groups = 2, .same_padding = true});
     }},
    {"conv2d_same",
     [](Model& m, Value x) {
       return m.conv2d(
           "layer", x,
           {.out_channels = 6, .kernel = {4, 3}, .dilation = {1, 2}, .same_padding = true});
     }},
    {"conv2d_same_circular",
     [](Model& m, Value x) {
       return m.conv2d("layer", x,
                       {.out_channels = 2,
                        .kernel = {2, 4},
                        .bias = false,
                        .same_padding = true,
                        .padding_mode = PadMode::circular});
     }},
    {"conv2d_reflect",
     [](Model& m, Value x) {
       return m.conv2d("layer", x,
                       {.out_channels = 6,
                        .kernel = 3,
                        .stride = {1, 2},
                        .padding = {3, 1},
                        .padding_mode = PadMode::reflect});
     }},
    {"conv2d_replicate",
     [](Model& m, Value x) {
       return m.conv2d("layer", x,
                       {.out_channels = 6,
                        .kernel = 3,
                        .padding = {1, 4},
                        .groups = 2,
                        .padding_mode = PadMode::replicate});
     }},
    {"conv2d_circular",
     [](Model& m, Value x) {
       return m.conv2d(
           "layer", x,
           {.out_channels = 6, .kernel = 5, .padding = 2, .padding_mode = PadMode::circular});
     }},
    {"conv3d",
     [](Model& m, Value x) {
       return m.conv3d("layer", x, {.out_channels = 3, .kernel = 3, .padding = 1});
     }},
    {"conv3d_one",
     [](Model& m, Value x) {
       return m.conv3d("layer", x, {.out_channels = 3, .kernel = 1, .bias = false});
     }},
    {"conv3d_strides",
     [](Model& m, Value x) {
       return m.conv3d("layer", x,
                       {.out_channels = 4,
                        .kernel = {2, 3, 2},
                        .stride = {2, 3, 1},
                        .padding = {0, 2, 1},
                        .dilation = {2, 1, 3},
                        .groups = 2});
     }},
    {"conv3d_patches",
     [](Model& m, Value x) {
       return m.conv3d("layer", x, {.out_channels = 3, .kernel = {5, 3, 2}, .stride = {1, 3, 2}});
     }},
    {"conv3d_same",
     [](Model& m, Value x) {
       return m.conv3d("layer", x,
                       {.out_channels = 3,
                        .kernel = {2, 3, 4},
                        .same_padding = true,
                        .padding_mode = PadMode::replicate});
     }},
    {"conv_transpose1d",
     [](Model& m, Value x) {
       return m.conv_transpose1d("layer", x,
                                 {.out_channels = 6,
                                  .kernel = 4,
                                  .stride = 3,
                                  .padding = 2,
                                  .output_padding = 1,
                                  .dilation = 2,
                                  .groups = 2});
     }},
    {"conv_transpose1d_no_bias",
     [](Model& m, Value x) {
       return m.conv_transpose1d("layer", x, {.out_channels = 3, .kernel = 2, .bias = false});
     }},
    {"conv_transpose3d",
     [](Model& m, Value x) {
       return m.conv_transpose3d("layer", x,
                                 {.out_channels = 4,
                                  .kernel = {2, 3, 2},
                                  .stride = {2, 3, 1},
                                  .padding = {0, 3, 1},
                                  .output_padding = {1, 2, 0},
                                  .dilation = {2, 1, 1},
                                  .groups = 2});
     }},
    {"conv_transpose3d_no_bias",
     [](Model& m, Value x) {
       return m.conv_transpose3d("layer", x,
                                 {.out_channels = 3, .kernel = 2, .stride = 2, .bias = false});
     }},
};

const Row poolings[] = {
    {"max_pool1d",
     [](Model& m, Value x) {
       return m.max_pool1d(x, {.kernel = 3, .stride = 1, .padding = 1, .dilation = 2});
     }},
    {"max_pool2d",
     [](Model& m, Value x) {
       return m.max_pool2d(
           x, {.kernel = {2, 3}, .stride = 2, .padding = 1, .dilation = {3, 1}, .ceil_mode = true});
     }},
    {"max_pool3d",
     [](Model& m, Value x) {
       return m.max_pool3d(x, {.kernel = {2, 3, 2}, .stride = {2, 1, 2}, .padding = {1, 1, 0}});
     }},
    {"max_pool3d_ceil",
     [](Model& m, Value x) {
       return m.max_pool3d(x, {.kernel = 2, .dilation = {1, 2, 1}, .ceil_mode = true});
     }},
    {"avg_pool3d",
     [](Model& m, Value x) { return m.avg_pool3d(x, {.kernel = 3, .stride = 2, .padding = 1}); }},
    {"avg_pool3d_ceil",
     [](Model& m, Value x) {
       return m.avg_pool3d(x, {.kernel = {2, 3, 3},
                               .stride = 2,
                               .padding = 1,
                               .ceil_mode = true,
                               .count_include_pad = false});
     }},
    {"adaptive_avg_pool1d", [](Model& m, Value x) { return m.adaptive_avg_pool1d(x, 4); }},
    {"adaptive_max_pool1d", [](Model& m, Value x) { return m.adaptive_max_pool1d(x, 3); }},
    {"adaptive_avg_pool3d",
     [](Model& m, Value x) {
       return m.adaptive_avg_pool3d(x, {2, 4, 2});
     }},
    {"adaptive_max_pool3d",
     [](Model& m, Value x) {
       return m.adaptive_max_pool3d(x, {5, 2, 3});
     }},
};

const Row powers_and_norms[] = {
    {"lp_pool1d",
     [](Model& m, Value x) {
       return m.lp_pool1d(x, 2, {.kernel = 4, .stride = 2, .ceil_mode = true});
     }},
    {"lp_pool2d",
     [](Model& m, Value x) {
       return m.lp_pool2d(x, 4, {.kernel = {2, 3}, .stride = 2});
     }},
    {"lp_pool2d_ceil",
     [](Model& m, Value x) {
       return m.lp_pool2d(x, 2, {.kernel = 4, .stride = 3, .ceil_mode = true});
     }},
    {"lp_pool3d",
     [](Model& m, Value x) { return m.lp_pool3d(x, 2, {.kernel = 2, .ceil_mode = true}); }},
    {"batch_norm3d",
     [](Model& m, Value x) { return m.batch_norm3d("layer", x, {.track_running_stats = false}); }},
    {"weight_norm_of_columns",
     [](Model& m, Value x) {
       return m.linear(x, m.weight_norm("layer", {3, 9}, 1));
     }},
};

constexpr InterpolateMode linear = InterpolateMode::linear;

const Row interpolations[] = {
    {"nearest_scaled",
     [](Model& m, Value x) {
       return m.interpolate(x, {.scale_factor = {1.7, 0.6}});
     }},
    {"nearest_sized",
     [](Model& m, Value x) {
       return m.interpolate(x, {.size = {3, 7, 9}});
     }},
    {"nearest_recomputed",
     [](Model& m, Value x) {
       return m.interpolate(x, {.scale_factor = {1.45}, .recompute_scale_factor = true});
     }},
    {"nearest_exact",
     [](Model& m, Value x) {
       return m.interpolate(x, {.scale_factor = {0.7}, .mode = InterpolateMode::nearest_exact});
     }},
    {"linear",
     [](Model& m, Value x) { return m.interpolate(x, {.scale_factor = {2.3}, .mode = linear}); }},
    {"bilinear",
     [](Model& m, Value x) { return m.interpolate(x, {.scale_factor = {2}, .mode = linear}); }},
    {"bilinear_recomputed",
     [](Model& m, Value x) {
       return m.interpolate(
           x, {.scale_factor = {1.4, 0.55}, .mode = linear, .recompute_scale_factor = true});
     }},
    {"bilinear_aligned",
     [](Model& m, Value x) {
       return m.interpolate(x, {.size = {12, 4}, .mode = linear, .align_corners = true});
     }},
    {"trilinear",
     [](Model& m, Value x) {
       return m.interpolate(x, {.size = {7, 6, 9}, .mode = linear});
     }},
};

/// Returns the shape of one of the samples in `tensor`.
Shape sample_of(const Tensor& tensor) {
  const auto dims = tensor.shape().dims();
  return Shape(std::vector<std::int64_t>(dims.begin() + 1, dims.end()));
}

class SpatialLayers : public ::testing::TestWithParam<Row> {
 protected:
  static const Tensor& stored(const std::string& name) {
    return reference().tensors.at(GetParam().name + ("." + name));
  }
  static bool has(const std::string& name) {
    return reference().tensors.contains(GetParam().name + ("." + name));
  }

  /// Returns a model with the layer. The gradient of the parameter "shift" is that of the input,
  /// summed over the samples.
  static Model model() {
    Model model(GetParam().name);
    const Shape sample = sample_of(stored("x"));
    const Value x = model.input("x", sample), dy = model.input("dy", sample_of(stored("dy")));
    const Value y =
        GetParam().layer(model, x + model.parameter("shift", sample, Initializer::constant(0)));
    model.output("y", y);
    model.loss(model.identity_loss(y * dy, LossReduction::sum));
    for (const ParameterInfo& parameter : model.parameters())
      if (parameter.name != "shift") model.set_weight(parameter.name, stored(parameter.name));
    return model;
  }

  static Options options() { return {.batch_size = static_cast<int>(stored("x").shape()[0])}; }
};

TEST_P(SpatialLayers, ComputeWhatPyTorchDoes) {
  InferenceModel inference(model(), options());
  const Tensor y = inference.run({stored("x")}).output("y");
  ASSERT_EQ(y.shape(), stored("y").shape());
  EXPECT_LE(relative_difference(y, stored("y")), 1e-6);
}

TEST_P(SpatialLayers, HaveTheGradientsOfPyTorch) {
  const Model trained = model();
  train(trained, options(), Sgd{.learning_rate = 1}, {stored("x"), stored("dy")}, 1);
  for (const ParameterInfo& parameter : trained.parameters()) {
    const std::string& name = parameter.name;
    const Tensor after = trained.weight(name), &gradient = stored("gradient." + name);
    std::vector<float> taken(after.as<float>().begin(), after.as<float>().end());
    for (std::size_t i = 0; i < taken.size(); ++i)
      taken[i] = (has(name) ? stored(name).as<float>()[i] : 0.0f) - taken[i];
    ASSERT_EQ(after.shape(), gradient.shape());
    EXPECT_LE(relative_difference({after.shape(), std::span<const float>(taken)}, gradient), 2e-6)
        << name;
  }
}

std::string name_of(const ::testing::TestParamInfo<Row>& info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(Convolutions, SpatialLayers, ::testing::ValuesIn(convolutions), name_of);
INSTANTIATE_TEST_SUITE_P(Poolings, SpatialLayers, ::testing::ValuesIn(poolings), name_of);
INSTANTIATE_TEST_SUITE_P(PowersAndNorms, SpatialLayers, ::testing::ValuesIn(powers_and_norms),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Interpolations, SpatialLayers, ::testing::ValuesIn(interpolations),
                         name_of);

TEST(SpatialReference, HasNoCaseThatIsNotCompared) {
  std::set<std::string> compared, stored;
  for (const std::span<const Row> rows :
       {std::span<const Row>(convolutions), {poolings}, {powers_and_norms}, {interpolations}})
    for (const Row& row : rows) compared.insert(row.name);
  for (const auto& [name, tensor] : reference().tensors)
    stored.insert(name.substr(0, name.find('.')));
  EXPECT_EQ(compared, stored);
}

/// Returns a model in two blocks that enlarges, reduces and convolves volumes and images.
Model network() {
  Model m("volumes", 7);
  const Value x = m.input("x", {2, 4, 6, 5}), labels = m.labels();
  Value y;
  {
    const auto block = m.block("B1");
    y = m.conv3d("volume", x, {.out_channels = 4, .kernel = 3, .same_padding = true});
    y = m.max_pool3d(m.relu(y), {.kernel = {2, 3, 2}, .stride = 1, .dilation = {1, 2, 1}});
    y = m.avg_pool3d(m.interpolate(y, {.size = {4, 5, 6}, .mode = linear}), {.kernel = {1, 2, 2}});
  }
  const auto block = m.block("B2");
  y = m.reshape(y, {4, 8, 3});
  y = m.conv2d("image", m.interpolate(y, {.scale_factor = {1.5, 2}, .mode = linear}),
               {.out_channels = 3, .kernel = 2, .same_padding = true});
  y = m.tanh(
      m.conv2d("ring", y,
               {.out_channels = 3, .kernel = 3, .padding = 1, .padding_mode = PadMode::circular}));
  y = m.conv_transpose1d("row", m.reshape(y, {3, -1}),
                         {.out_channels = 2, .kernel = 3, .stride = 2});
  m.loss(m.cross_entropy(m.linear("out", m.flatten(m.adaptive_avg_pool1d(y, 10)), 3), labels));
  return m;
}

/// Returns numbers from -1 to 1 in an order without a pattern.
Tensor numbers(const Shape& shape) {
  std::vector<float> elements;
  for (std::int64_t i = 0; i < shape.elements(); ++i)
    elements.push_back(static_cast<float>(i * i * 29 % 127) / 63.5f - 1);
  return {shape, std::span<const float>(elements)};
}

TrainingRun run(const char* stages, bool recompute, int threads) {
  constexpr std::int64_t batch = 3, updates = 4;
  Options options{.batch_size = batch};
  options.topology.stages = parse_stages(stages);
  options.topology.threads_per_ipu = threads;
  options.training.recompute = recompute;
  const std::vector<std::int64_t> classes{0, 1, 2, 2, 0, 1, 1, 0, 2, 0, 1, 2};
  return train(network(), options, Adam{.learning_rate = 0.01},
               {numbers({batch * updates, 2, 4, 6, 5}),
                Tensor({batch * updates}, std::span<const std::int64_t>(classes))},
               updates);
}

TEST(SpatialNetwork, HasTheSameBitsWhateverTheStagesTheRecomputationAndTheThreads) {
  const TrainingRun expected = run("B1,B2", false, 1);
  EXPECT_FALSE(same_bits(expected.weights.at("volume.weight"), network().weight("volume.weight")));
  for (const char* stages : {"B1,B2", "B1|B2"})
    for (const bool recompute : {false, true})
      for (const int threads : {1, 2})
        EXPECT_EQ(first_difference(run(stages, recompute, threads), expected), "")
            << stages << ", recompute " << recompute << ", " << threads << " threads";
}

}  // namespace
}  // namespace penstock::testing
