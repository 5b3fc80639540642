// These functions make layers of PyTorch that are no methods of Model, of those that are. The
// program compares what they compute with their formulas.
#include <cmath>
#include <cstdint>
#include <functional>
#include <iostream>
#include <limits>
#include <numeric>
#include <penstock/penstock.hpp>
#include <string>
#include <vector>

using namespace penstock;

namespace {

/// This is torch.nn.CosineSimilarity(): a [N,...] and b of the same shape, along `axis`.
Value cosine_similarity(Model& model, Value a, Value b, int axis = 1, double eps = 1e-8) {
  const Value lengths = model.norm(a, {axis}) * model.norm(b, {axis});
  return model.sum(a * b, {axis}) / model.clamp(lengths, eps, std::numeric_limits<float>::max());
}

/// This is torch.nn.PairwiseDistance(): a [N,C] and b [N,C] -> [N].
Value pairwise_distance(Model& model, Value a, Value b, double p = 2, double eps = 1e-6) {
  return model.norm(a - b + eps, {1}, p);
}

/// This is torch.nn.Bilinear(): a [N,I] and b [N,J] -> [N,features]. The weight [features,I·J] has
/// the elements of PyTorch's [features,I,J] in the same order.
Value bilinear(Model& model, const std::string& name, Value a, Value b, std::int64_t features) {
  const Value products = model.matmul(model.unsqueeze(a, 2), model.unsqueeze(b, 1));
  return model.linear(name, model.flatten(products), features);
}

/// This is torch.nn.ChannelShuffle(): x [N,shape] of the same shape.
Value channel_shuffle(Model& model, Value x, const Shape& shape, std::int64_t groups) {
  const Value split = model.reshape(x, {groups, shape[0] / groups, shape[1], shape[2]});
  const Value turned = model.transpose(split, {0, 2, 1, 3, 4});
  return model.reshape(turned, {shape[0], shape[1], shape[2]});
}

/// This is torch.nn.LocalResponseNorm(size) of an odd size: x [N,C,H,W] of the same shape.
Value local_response_norm(Model& model, Value x, std::int64_t size, double alpha = 1e-4,
                          double beta = 0.75, double k = 1) {
  const Value volume = model.unsqueeze(model.square(x), 1);
  const Value means =
      model.avg_pool3d(volume, {.kernel = {size, 1, 1}, .stride = 1, .padding = {size / 2, 0, 0}});
  return x * model.pow(model.squeeze(means, 1) * alpha + k, -beta);
}

/// This is torch.nn.Unfold(kernel): x [N,channels,H,W] -> [N,channels·kernel²,windows].
Value unfold(Model& model, Value x, std::int64_t channels, std::int64_t kernel) {
  const std::int64_t places = channels * kernel * kernel;
  std::vector<float> weight(static_cast<std::size_t>(places * places));
  for (std::int64_t i = 0; i < places; ++i) weight[static_cast<std::size_t>(i * places + i)] = 1;
  const Value unit =
      model.constant("unfold.weight", Tensor({places, channels, kernel, kernel}, weight));
  return model.reshape(model.conv2d(x, unit), {places, -1});
}

/// This is torch.nn.LPPool1d(norm, kernel): x [N,C,L] -> [N,C,L'].
Value lp_pool1d(Model& model, Value x, double norm, std::int64_t kernel) {
  const Value rows = model.unsqueeze(x, 2);
  return model.squeeze(model.lp_pool2d(rows, norm, {.kernel = {1, kernel}}), 2);
}

/// This is torch.nn.EmbeddingBag(rows, width), whose mode is "mean", for bags of one size:
/// ids [N,T] -> [N,width].
Value embedding_bag(Model& model, const std::string& name, Value ids, std::int64_t rows,
                    std::int64_t width) {
  return model.mean(model.embedding(name, ids, rows, width), {1});
}

constexpr std::int64_t channels = 6, side = 4, pixels = side * side;

Model network() {
  Model model("composed layers", 3);
  const Value a = model.input("a", {channels}), b = model.input("b", {channels});
  const Value image = model.input("image", {channels, side, side});
  const Value ids = model.input("ids", {2}, DType::i64);
  model.output("similarity", cosine_similarity(model, a, b));
  model.output("distance", pairwise_distance(model, a, b, 3));
  model.output("bilinear", bilinear(model, "bilinear", a, b, 2));
  model.output("shuffled", channel_shuffle(model, image, {channels, side, side}, 3));
  model.output("response", local_response_norm(model, image, 3, 0.5));
  model.output("windows", unfold(model, image, channels, 2));
  model.output("pooled", lp_pool1d(model, model.reshape(image, {channels, pixels}), 3, 4));
  model.output("bag", embedding_bag(model, "bag", ids, 5, 3));
  return model;
}

/// A Check compares the outputs of one sample with formulas.
class Check {
 public:
  explicit Check(StepResult result) : result_(std::move(result)) {}

  /// Compares element i of output `name` with `expected(i)`, for each i.
  void compare(const std::string& name, const std::function<double(std::int64_t)>& expected) {
    std::int64_t i = 0;
    for (const float value : result_.output(name).as<float>()) {
      const double wanted = expected(i++);
      if (std::abs(value - wanted) <= 1e-5 * (1 + std::abs(wanted))) continue;
      std::cout << name << '[' << i - 1 << "] is " << value << ", expected " << wanted << '\n';
      all_equal_ = false;
    }
  }
  bool all_equal() const { return all_equal_; }

 private:
  StepResult result_;
  bool all_equal_ = true;
};

std::vector<float> waves(std::int64_t count, double step) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < count; ++i)
    values.push_back(static_cast<float>(std::sin(step * static_cast<double>(i + 1))));
  return values;
}

}  // namespace

int main() {
  const Model model = network();
  const std::vector<float> a = waves(channels, 0.7), b = waves(channels, 1.9),
                           image = waves(channels * pixels, 0.3);
  const std::vector<std::int64_t> ids{4, 1};
  InferenceModel inference(model, {.batch_size = 1});
  Check check(inference.run({{"a", Tensor({1, channels}, a)},
                             {"b", Tensor({1, channels}, b)},
                             {"image", Tensor({1, channels, side, side}, image)},
                             {"ids", Tensor({1, 2}, ids)}}));
  const auto at = [&](std::int64_t channel, std::int64_t pixel) {
    const bool inside = channel >= 0 && channel < channels;
    return inside ? double{image[static_cast<std::size_t>(channel * pixels + pixel)]} : 0;
  };
  check.compare("similarity", [&](std::int64_t) {
    const auto dot = [](const auto& x, const auto& y) {
      return std::inner_product(x.begin(), x.end(), y.begin(), 0.0);
    };
    return dot(a, b) / std::sqrt(dot(a, a) * dot(b, b));
  });
  check.compare("distance", [&](std::int64_t) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += std::pow(std::abs(a[i] - b[i] + 1e-6), 3);
    return std::cbrt(sum);
  });
  check.compare("bilinear", [&](std::int64_t feature) {
    const Tensor weight = model.weight("bilinear.weight"), bias = model.weight("bilinear.bias");
    const auto w = weight.as<float>();
    double sum = bias.as<float>()[static_cast<std::size_t>(feature)];
    for (std::size_t i = 0; i < a.size(); ++i)
      for (std::size_t j = 0; j < b.size(); ++j)
        sum += a[i] * w[(static_cast<std::size_t>(feature) * a.size() + i) * b.size() + j] * b[j];
    return sum;
  });
  check.compare("shuffled", [&](std::int64_t i) {
    const std::int64_t channel = i / pixels;  // Three groups of two channels each are mixed.
    return at(channel % 3 * 2 + channel / 3, i % pixels);
  });
  check.compare("response", [&](std::int64_t i) {
    const std::int64_t channel = i / pixels, pixel = i % pixels;
    double squares = 0;
    for (std::int64_t c = channel - 1; c <= channel + 1; ++c)
      squares += at(c, pixel) * at(c, pixel);
    return at(channel, pixel) / std::pow(1 + 0.5 * squares / 3, 0.75);
  });
  check.compare("windows", [&](std::int64_t i) {
    const std::int64_t place = i / 9, window = i % 9;  // Along a side of 4, 3 windows of 2 fit.
    const std::int64_t row = window / 3 + place / 2 % 2, column = window % 3 + place % 2;
    return at(place / 4, row * side + column);
  });
  check.compare("pooled", [&](std::int64_t i) {
    double sum = 0;
    for (std::int64_t k = 0; k < 4; ++k) sum += std::pow(at(i / 4, i % 4 * 4 + k), 3);
    return sum > 0 ? std::cbrt(sum) : 0;
  });
  check.compare("bag", [&](std::int64_t i) {
    const Tensor rows = model.weight("bag.weight");
    const auto row = [&](std::int64_t id) {
      return double{rows.as<float>()[static_cast<std::size_t>(id * 3 + i)]};
    };
    return (row(4) + row(1)) / 2;
  });
  if (check.all_equal()) std::cout << "all layers compute what their formulas say\n";
  return check.all_equal() ? 0 : 1;
}
