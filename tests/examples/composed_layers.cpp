// Some layers of PyTorch are no methods of Model. The functions of this program compute them by
// methods that are there, and the program compares the results with the formulas of these layers.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <iostream>
#include <limits>
#include <numeric>
#include <penstock/penstock.hpp>
#include <span>
#include <string>
#include <vector>

using namespace penstock;

namespace {

/// Returns the larger one of `low` and each element of x.
Value at_least(Model& model, Value x, double low) {
  return model.clamp(x, low, std::numeric_limits<float>::max());
}

/// Computes torch.nn.functional.normalize(): x [N,...] of the same shape, along `axis`.
Value normalize(Model& model, Value x, double p = 2, int axis = 1, double eps = 1e-12) {
  return x / at_least(model, model.norm(x, {axis}, p, true), eps);
}

/// Computes torch.nn.CosineSimilarity(): a [N,...] and b of the same shape, along `axis`.
Value cosine_similarity(Model& model, Value a, Value b, int axis = 1, double eps = 1e-8) {
  return model.sum(normalize(model, a, 2, axis, eps) * normalize(model, b, 2, axis, eps), {axis});
}

/// Computes torch.nn.PairwiseDistance(): a [N,C] and b [N,C] -> [N].
Value pairwise_distance(Model& model, Value a, Value b, double p = 2, double eps = 1e-6) {
  return model.norm(a - b + eps, {1}, p);
}

/// Computes torch.nn.Bilinear(): a [N,I] and b [N,J] -> [N,features]. The weight [features,I·J] has
/// the elements of PyTorch's [features,I,J] in the same order.
Value bilinear(Model& model, const std::string& name, Value a, Value b, std::int64_t features) {
  const Value products = model.matmul(model.unsqueeze(a, 2), model.unsqueeze(b, 1));
  return model.linear(name, model.flatten(products), features);
}

/// Computes torch.nn.TripletMarginWithDistanceLoss() for distances [N] that are computed already.
Value triplet_margin_with_distance_loss(Model& model, Value near, Value far, double margin = 1,
                                        LossReduction reduction = LossReduction::mean) {
  return model.identity_loss(model.relu(near - far + margin), reduction);
}

/// Computes torch.nn.ChannelShuffle(): x [N,C,H,W] of the same shape; `shape` is {C,H,W}.
Value channel_shuffle(Model& model, Value x, const Shape& shape, std::int64_t groups) {
  const Value split = model.reshape(x, {groups, shape[0] / groups, shape[1], shape[2]});
  const Value turned = model.transpose(split, {0, 2, 1, 3, 4});
  return model.reshape(turned, {shape[0], shape[1], shape[2]});
}

/// Computes torch.nn.LocalResponseNorm(size) for an odd size: x [N,C,H,W] of the same shape.
Value local_response_norm(Model& model, Value x, std::int64_t size, double alpha = 1e-4,
                          double beta = 0.75, double k = 1) {
  const Value volume = model.unsqueeze(model.square(x), 1);
  const Value means =
      model.avg_pool3d(volume, {.kernel = {size, 1, 1}, .stride = 1, .padding = {size / 2, 0, 0}});
  return x * model.pow(model.squeeze(means, 1) * alpha + k, -beta);
}

/// Adds the constant NAME.weight [P,C,K,K] for C channels and kernels of K by K. Its row p is 1 at
/// place p of the P = C·K² places of a window, and 0 elsewhere.
Value window_places(Model& model, const std::string& name, std::int64_t channels,
                    std::int64_t kernel) {
  const std::int64_t places = channels * kernel * kernel;
  std::vector<float> ones(static_cast<std::size_t>(places * places));
  for (std::int64_t i = 0; i < places; ++i) ones[static_cast<std::size_t>(i * places + i)] = 1;
  return model.constant(name + ".weight", Tensor({places, channels, kernel, kernel}, ones));
}

/// Computes torch.nn.Unfold(kernel): x [N,channels,H,W] -> [N,channels·kernel²,windows]. Stride,
/// padding and dilation are those of `options`.
Value unfold(Model& model, const std::string& name, Value x, std::int64_t channels,
             std::int64_t kernel, const Conv2dOptions& options = {}) {
  const Value weight = window_places(model, name, channels, kernel);
  return model.reshape(model.conv2d(x, weight, {}, options), {channels * kernel * kernel, -1});
}

/// Computes torch.nn.Fold(size, kernel) for `rows` rows of windows: x [N,channels·kernel²,windows]
/// -> [N,channels,H,W]. Stride, padding and dilation are those of `options`.
Value fold(Model& model, const std::string& name, Value x, std::int64_t channels,
           std::int64_t kernel, std::int64_t rows, const ConvTranspose2dOptions& options = {}) {
  const Value weight = window_places(model, name, channels, kernel);
  const Value windows = model.reshape(x, {channels * kernel * kernel, rows, -1});
  return model.conv_transpose2d(windows, weight, {}, options);
}

/// Computes torch.nn.EmbeddingBag(rows, width), whose mode is "mean", for bags of one size:
/// ids [N,T] -> [N,width].
Value embedding_bag(Model& model, const std::string& name, Value ids, std::int64_t rows,
                    std::int64_t width) {
  return model.mean(model.embedding(name, ids, rows, width), {1});
}

constexpr std::int64_t sample_count = 2, channels = 6, side = 4, pixels = side * side;
// Some of the norms that are computed are smaller than this smallest divisor, and some are larger.
constexpr double eps = 1.38;

Model network() {
  Model model("composed layers", 3);
  const Value a = model.input("a", {channels}), b = model.input("b", {channels});
  const Value image = model.input("image", {channels, side, side});
  const Value ids = model.input("ids", {2}, DType::i64);
  const Value distance = pairwise_distance(model, a, b, 3);
  const Value windows = unfold(model, "unfold", image, channels, 2, {.stride = 2, .padding = 1});
  model.output("similarity", cosine_similarity(model, a, b, 1, eps));
  model.output("normalized", normalize(model, a, 3, 1, eps));
  model.output("distance", distance);
  model.output("triplet", triplet_margin_with_distance_loss(model, distance, distance * 2, 3,
                                                            LossReduction::none));
  model.output("bilinear", bilinear(model, "bilinear", a, b, 2));
  model.output("shuffled", channel_shuffle(model, image, {channels, side, side}, 3));
  model.output("response", local_response_norm(model, image, 3, 0.5));
  model.output("windows", windows);
  model.output("folded", fold(model, "fold", windows, channels, 2, 3, {.stride = 2, .padding = 1}));
  const Value near = unfold(model, "near", image, channels, 2);
  model.output("summed", fold(model, "sum", near, channels, 2, side - 1));
  model.output("bag", embedding_bag(model, "bag", ids, 5, 3));
  return model;
}

/// A Samples has the elements of one input, for each sample.
template <class T>
using Samples = std::vector<std::vector<T>>;

template <class T>
Tensor tensor_of(const Samples<T>& samples, std::vector<std::int64_t> shape) {
  std::vector<T> all;
  for (const std::vector<T>& sample : samples) all.insert(all.end(), sample.begin(), sample.end());
  shape.insert(shape.begin(), static_cast<std::int64_t>(samples.size()));
  return Tensor(Shape(shape), std::span<const T>(all));
}

Samples<float> waves(std::int64_t count, double step) {
  Samples<float> samples(sample_count);
  for (std::vector<float>& sample : samples) {
    for (std::int64_t i = 0; i < count; ++i)
      sample.push_back(static_cast<float>(std::sin(step * static_cast<double>(i + 1))));
    step *= 1.7;
  }
  return samples;
}

const Samples<float> all_a = waves(channels, 0.7), all_b = waves(channels, 1.9),
                     all_images = waves(channels * pixels, 0.3);
const Samples<std::int64_t> all_ids{{4, 1}, {0, 0}};

/// A Check compares outputs with formulas.
class Check {
 public:
  explicit Check(StepResult result) : result_(std::move(result)) {}

  /// Compares element i of sample n of the output `name`, which has `count` elements for each
  /// sample, with `expected(n, i)`.
  void compare(const std::string& name, std::int64_t count,
               const std::function<double(std::size_t, std::int64_t)>& expected) {
    const auto values = result_.output(name).as<float>();
    if (values.size() != static_cast<std::size_t>(sample_count * count)) {
      std::cout << name << " has " << values.size() << " elements\n";
      all_equal_ = false;
      return;
    }
    for (std::int64_t i = 0; i < sample_count * count; ++i) {
      const double value = values[static_cast<std::size_t>(i)];
      const double wanted = expected(static_cast<std::size_t>(i / count), i % count);
      if (std::abs(value - wanted) <= 1e-5 * (1 + std::abs(wanted))) continue;
      std::cout << name << '[' << i << "] is " << value << ", expected " << wanted << '\n';
      all_equal_ = false;
    }
  }
  bool all_equal() const { return all_equal_; }

 private:
  StepResult result_;
  bool all_equal_ = true;
};

double pixel_of(std::size_t sample, std::int64_t channel, std::int64_t row, std::int64_t column) {
  const bool inside =
      channel >= 0 && channel < channels && row >= 0 && row < side && column >= 0 && column < side;
  if (!inside) return 0;
  return all_images[sample][static_cast<std::size_t>((channel * side + row) * side + column)];
}

double image_at(std::size_t sample, std::int64_t channel, std::int64_t pixel) {
  return pixel_of(sample, channel, pixel / side, pixel % side);
}

double dot(const std::vector<float>& x, const std::vector<float>& y) {
  return std::inner_product(x.begin(), x.end(), y.begin(), 0.0);
}

double length(const std::vector<float>& x) {
  return std::sqrt(dot(x, x));
}

double distance_of(std::size_t sample) {
  const std::vector<float>&a = all_a[sample], &b = all_b[sample];
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::pow(std::abs(a[i] - b[i] + 1e-6), 3);
  return std::cbrt(sum);
}

void check_vectors(Check& check, const Model& model) {
  check.compare("similarity", 1, [&](std::size_t n, std::int64_t) {
    const std::vector<float>&a = all_a[n], &b = all_b[n];
    return dot(a, b) / (std::max(length(a), eps) * std::max(length(b), eps));
  });
  check.compare("normalized", channels, [&](std::size_t n, std::int64_t i) {
    double sum = 0;
    for (const float value : all_a[n]) sum += std::pow(std::abs(value), 3);
    return all_a[n][static_cast<std::size_t>(i)] / std::max(std::cbrt(sum), eps);
  });
  check.compare("distance", 1, [&](std::size_t n, std::int64_t) { return distance_of(n); });
  check.compare("triplet", 1, [&](std::size_t n, std::int64_t) {
    return std::max(3 - distance_of(n), 0.0);  // The far distance is twice the near one.
  });
  check.compare("bilinear", 2, [&](std::size_t n, std::int64_t feature) {
    const std::vector<float>&a = all_a[n], &b = all_b[n];
    const Tensor weight = model.weight("bilinear.weight"), bias = model.weight("bilinear.bias");
    const auto w = weight.as<float>();
    double sum = bias.as<float>()[static_cast<std::size_t>(feature)];
    for (std::size_t i = 0; i < a.size(); ++i)
      for (std::size_t j = 0; j < b.size(); ++j)
        sum += a[i] * w[(static_cast<std::size_t>(feature) * a.size() + i) * b.size() + j] * b[j];
    return sum;
  });
  check.compare("bag", 3, [&](std::size_t n, std::int64_t i) {
    const Tensor rows = model.weight("bag.weight");
    double sum = 0;
    for (const std::int64_t id : all_ids[n])
      sum += rows.as<float>()[static_cast<std::size_t>(id * 3 + i)];
    return sum / 2;
  });
}

void check_images(Check& check) {
  check.compare("shuffled", channels * pixels, [](std::size_t n, std::int64_t i) {
    const std::int64_t channel = i / pixels;  // Three groups of two channels each are mixed.
    return image_at(n, channel % 3 * 2 + channel / 3, i % pixels);
  });
  check.compare("response", channels * pixels, [](std::size_t n, std::int64_t i) {
    const std::int64_t channel = i / pixels, pixel = i % pixels;
    double squares = 0;
    for (std::int64_t c = channel - 1; c <= channel + 1; ++c)
      squares += std::pow(image_at(n, c, pixel), 2);
    return image_at(n, channel, pixel) / std::pow(1 + 0.5 * squares / 3, 0.75);
  });
  check.compare("windows", channels * 4 * 9, [](std::size_t n, std::int64_t i) {
    const std::int64_t place = i / 9, window = i % 9;  // With the padding, 3 by 3 windows fit.
    const std::int64_t row = window / 3 * 2 - 1 + place / 2 % 2,
                       column = window % 3 * 2 - 1 + place % 2;
    return pixel_of(n, place / 4, row, column);
  });
  check.compare("folded", channels * pixels, [](std::size_t n, std::int64_t i) {
    return image_at(n, i / pixels, i % pixels);  // Windows of 2 at a stride of 2 do not overlap.
  });
  check.compare("summed", channels * pixels, [](std::size_t n, std::int64_t i) {
    // At a stride of 1, each row lies in two windows of 2 rows, but the first and the last row lie
    // in one. The same holds for columns.
    const std::int64_t row = i / side % side, column = i % side;
    const int windows = (row % (side - 1) ? 2 : 1) * (column % (side - 1) ? 2 : 1);
    return windows * image_at(n, i / pixels, i % pixels);
  });
}

}  // namespace

int main() {
  const Model model = network();
  InferenceModel inference(model, {.batch_size = sample_count});
  Check check(inference.run({{"a", tensor_of(all_a, {channels})},
                             {"b", tensor_of(all_b, {channels})},
                             {"image", tensor_of(all_images, {channels, side, side})},
                             {"ids", tensor_of(all_ids, {2})}}));
  check_vectors(check, model);
  check_images(check);
  if (!check.all_equal()) return 1;
  std::cout << "all layers compute what their formulas say\n";
}
