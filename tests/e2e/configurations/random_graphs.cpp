#include "tests/e2e/configurations/random_graphs.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "tests/e2e/configurations/configuration.hpp"
#include "tests/e2e/configurations/random_layers.hpp"

namespace penstock::testing {
namespace {

constexpr int classes = 3;
constexpr const char* blocks[] = {"A", "B", "C", "D"};

/// A Task says what a network is made for: its input is images or rows, and its loss needs labels
/// or a target.
struct Task {
  bool has_images;
  std::vector<std::int64_t> sample;  ///< This is the shape of one sample of the input.
  /// If this is false, there is a target of as many numbers as there are classes.
  bool has_labels;
};

Task draw_task(Draws& draws) {
  Task task{.has_images = draws.below(3) != 0, .sample = {}, .has_labels = draws.coin()};
  if (task.has_images)
    task.sample = {1 + draws.below(3), 4 + draws.below(5), 4 + draws.below(5)};
  else
    task.sample = {2 + draws.below(11)};
  return task;
}

/// A RandomGraph draws a network layer by layer while building it, so that each shape is known when
/// the next layer is drawn.
class RandomGraph {
 public:
  RandomGraph(std::uint32_t seed, const Marks& marks)
      : draws_(seed), task_(draw_task(draws_)), model_("random", seed), marks_(marks) {}

  Model build() {
    x_ = model_.input("x", Shape(task_.sample));
    target_ = task_.has_labels ? model_.labels() : model_.input("target", {classes});
    for (std::size_t i = 0; i < std::size(blocks); ++i) {
      const auto block = model_.block(blocks[i], marks_.ipus[i]);
      if (i == 1) x_ = note(linear_or_convolution("second"));
      for (int layers = 1 + draws_.below(3); layers > 0; --layers) x_ = note(layer());
      if (i + 1 == std::size(blocks)) finish();
    }
    return model_;
  }

 private:
  struct LinearLayer {
    std::string name;
    bool has_bias;
  };

  void finish() {
    if (is_image(x_)) x_ = draws_.coin() ? model_.flatten(x_) : pooled_rows();
    // The output is bounded, so that no training diverges.
    const Value out = model_.linear("out", model_.tanh(x_), classes);
    model_.output("out", out);
    if (task_.has_labels)
      model_.loss(model_.cross_entropy(out, target_));
    else if (draws_.coin())
      model_.loss(model_.mse_loss(out, target_));
    else
      model_.loss(model_.smooth_l1_loss(out, target_));
  }

  std::int64_t size(Value value, std::size_t axis) const {
    return model_.shape(value)[static_cast<std::ptrdiff_t>(axis)];
  }
  bool is_image(Value value) const { return model_.shape(value).rank() == 4; }
  /// Returns whether no layer has a name yet.
  bool is_first() const { return names_ == 0; }
  std::string next_name() { return "layer" + std::to_string(++names_); }

  /// Keeps `value` for later layers to read. If the bit of `value` in the marks is set, `value`
  /// becomes a checkpoint.
  Value note(Value value) {
    if (marks_.checkpoints >> (earlier_.size() % 4) & 1)
      value = model_.recomputation_checkpoint(value);
    earlier_.push_back(value);
    return value;
  }

  /// Returns an earlier value of the shape of `x_`, or `x_` itself.
  Value earlier_alike() {
    std::vector<Value> alike{x_};
    for (const Value& value : earlier_)
      if (model_.shape(value) == model_.shape(x_)) alike.push_back(value);
    return alike[static_cast<std::size_t>(draws_.below(static_cast<int>(alike.size())))];
  }

  Value layer() {
    switch (draws_.below(10)) {
      case 0:
      case 1:
        return linear_or_convolution(next_name());
      case 2:
        return norm();
      case 3:
        return is_image(x_) ? image_layer() : row_layer();
      case 4:
        return joined();
      case 5:
        return dropout();
      case 6:
        return is_image(x_) ? drawn_image_layer() : draw_row_function(model_, draws_, x_);
      case 7:
        return is_image(x_) ? sequence_of_pixels() : activation(x_);
      default:
        return activation(x_);
    }
  }

  /// Returns images whose pixels a layer of sequences has computed, one row after the other.
  Value sequence_of_pixels() {
    const std::int64_t rows = size(x_, 2), columns = size(x_, 3);
    const Value pixels = model_.reshape(x_, {size(x_, 1), rows * columns});
    const Value y =
        draw_sequence_layer(model_, draws_, next_name(), model_.transpose(pixels, {0, 2, 1}));
    return model_.reshape(model_.transpose(y, {0, 2, 1}), {size(y, 2), rows, columns});
  }

  Value dropout() {
    if (is_image(x_) && draws_.coin()) return model_.dropout2d(next_name(), x_, 0.25);
    return draws_.coin() ? model_.dropout(next_name(), x_, 0.25)
                         : model_.alpha_dropout(next_name(), x_, 0.25);
  }

  Value activation(Value x) {
    switch (draws_.below(12)) {
      case 0:
        return model_.relu(x);
      case 1:
        return model_.sigmoid(x);
      case 2:
        return model_.tanh(x);
      case 3:
        return model_.gelu(x);
      case 4:
        return model_.silu(x);
      case 5:
        return model_.elu(x);
      case 6:
        return model_.softplus(x);
      case 7:
        return model_.mish(x);
      case 8:
        return model_.hardswish(x);
      case 9:
        return model_.relu6(x);
      case 10:
        return model_.prelu(next_name(), x, draws_.coin() ? 1 : size(x, 1));
      default:
        return model_.leaky_relu(x, 0.1);
    }
  }

  Value linear_or_convolution(const std::string& name) {
    if (!is_image(x_)) {
      const std::int64_t features = 1 + draws_.below(12);
      linear_.push_back({name, draws_.coin()});
      return model_.linear(name, x_, features, linear_.back().has_bias);
    }
    const auto kernel = std::min<std::int64_t>(
        {size(x_, 2), size(x_, 3), 1 + 2 * static_cast<std::int64_t>(draws_.below(2))});
    const std::int64_t channels = size(x_, 1), groups = draws_.below(4) == 0 ? channels : 1;
    return model_.conv2d(name, x_,
                         {.out_channels = groups * (1 + draws_.below(groups > 1 ? 2 : 6)),
                          .kernel = kernel,
                          .stride = 1 + draws_.below(2),
                          .padding = draws_.coin() ? kernel / 2 : 0,
                          .groups = groups,
                          .bias = draws_.coin()});
  }

  Value norm() {
    // A norm without parameters has constants, which read no input. A stage may not be made of
    // constants alone, and so the first layer with a name has none.
    const bool first = is_first();
    if (!is_image(x_))
      return draws_.coin() ? model_.layer_norm(next_name(), x_)
                           : model_.rms_norm(next_name(), x_, 1, 1e-5, draws_.coin() || first);
    // If an image is a single pixel, a channel of a micro-batch of one sample is a single value,
    // and so has no variance.
    const bool batch = size(x_, 2) * size(x_, 3) > 1 && draws_.coin();
    if (batch)
      return model_.batch_norm2d(next_name(), x_,
                                 {.momentum = draws_.coin() ? std::optional(0.1) : std::nullopt,
                                  .affine = draws_.coin() || first,
                                  .track_running_stats = draws_.below(4) != 0});
    const std::int64_t channels = size(x_, 1);
    return model_.group_norm(next_name(), x_, draws_.coin() ? 1 : channels);
  }

  Value drawn_image_layer() {
    const bool first = is_first();
    return draw_image_layer(model_, draws_, next_name(), x_, first);
  }

  Value image_layer() {
    const bool small = std::min(size(x_, 2), size(x_, 3)) < 2;
    switch (draws_.below(small ? 3 : 6)) {
      case 0:
        return pooled_rows();
      case 1:
        return model_.flatten(x_);
      case 2:
        return model_.interpolate(
            x_, {.size = {2 + draws_.below(6), 2 + draws_.below(6)},
                 .mode = draws_.coin() ? InterpolateMode::linear : InterpolateMode::nearest});
      case 3:
        return model_.avg_pool2d(x_);
      case 4:
        return model_.max_pool2d(x_, {.kernel = 2, .stride = 1});
      default:
        return model_.relu(model_.max_pool2d(model_.conv2d(
            next_name(), x_, {.out_channels = 1 + draws_.below(6), .kernel = 3, .padding = 1})));
    }
  }

  Value pooled_rows() { return model_.flatten(model_.global_avg_pool2d(x_)); }

  Value row_layer() {
    const std::int64_t features = size(x_, 1);
    switch (draws_.below(4)) {
      case 0: {
        const std::int64_t begin = draws_.below(static_cast<int>(features));
        return model_.slice(x_, 1, begin, features);
      }
      case 1:
        return model_.softmax(x_);
      case 2:
        return model_.scale(x_, -0.5);
      default:
        return tied();
    }
  }

  /// Returns a layer that shares the weight, or all parameters, of an earlier layer with as many
  /// features, or no more than a tanh if there is no such layer.
  Value tied() {
    for (const auto& [source, has_bias] : linear_) {
      const Value weight = model_.parameter(source + ".weight");
      if (size(weight, 1) != size(x_, 1)) continue;
      if (draws_.coin()) return model_.linear(model_.tanh(x_), weight);
      const std::string name = next_name();
      model_.share_parameters(name, source);
      return model_.linear(name, model_.tanh(x_), size(weight, 0), has_bias);
    }
    return model_.tanh(x_);
  }

  /// Joins `x_` and an earlier value. The factors of a product are between -1 and 1.
  Value joined() {
    const Value other = earlier_alike();
    switch (draws_.below(6)) {
      case 0:
        return model_.add(x_, other);
      case 1:
        return model_.sub(model_.scale(x_, 0.5), other);
      case 2:
        return model_.mul(model_.tanh(x_), model_.sigmoid(other));
      case 3:
        return draw_function_of_two(model_, draws_, x_, other);
      case 4:
        return model_.squeeze(model_.amax(model_.stack({x_, other}, 1), {1}, true), 1);
      default:
        return model_.concat({other, activation(x_)});
    }
  }

  Draws draws_;
  Task task_;
  Model model_;
  const Marks& marks_;
  Value x_, target_;
  std::vector<Value> earlier_;
  std::vector<LinearLayer> linear_;
  int names_ = 0;
};

}  // namespace

SmallNetwork random_graph(std::uint32_t seed) {
  Draws draws(seed);
  const Task task = draw_task(draws);
  return {.name = "random graph " + std::to_string(seed),
          .build = [seed](const Marks& marks) { return RandomGraph(seed, marks).build(); },
          .samples =
              [task](std::int64_t count) {
                std::vector<std::int64_t> rows{count};
                rows.insert(rows.end(), task.sample.begin(), task.sample.end());
                return std::vector{numbers(Shape(rows)), task.has_labels
                                                             ? integers({count}, classes)
                                                             : numbers({count, classes})};
              },
          .layer = "second",
          .parameter = "second.weight",
          .automatic_stages = 2};
}

}  // namespace penstock::testing
