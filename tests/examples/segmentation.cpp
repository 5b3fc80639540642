// This program learns which pixels of an image belong to a disc, which to a rectangle, and which to
// neither. The images are made up and noisy, and both shapes are equally bright, so that the
// network has to see the whole shape. It is a small U-Net (Ronneberger et al., 2015) in two stages,
// whose skip connections lead from the first stage to the second.
#include <iostream>
#include <optional>
#include <penstock/penstock.hpp>
#include <random>
#include <span>
#include <string>
#include <vector>

using namespace penstock;

namespace {

constexpr std::int64_t size = 32, levels = 2, channels = 8;
enum : std::int64_t { background, disc, rectangle, classes };

/// Returns images [count,1,size,size] with a disc and a rectangle each, and the class of each pixel
/// [count,size,size].
std::vector<Tensor> made_up_images(std::int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> noise(0, 0.2f);
  std::uniform_int_distribution<std::int64_t> middle(6, 25), radius(4, 7), corner(2, 22),
      side(6, 12);
  std::vector<float> pixels;
  std::vector<std::int64_t> masks;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t disc_x = middle(random), disc_y = middle(random), r = radius(random);
    const std::int64_t left = corner(random), right = left + side(random);
    const std::int64_t top = corner(random), bottom = top + side(random);
    for (std::int64_t y = 0; y < size; ++y)
      for (std::int64_t x = 0; x < size; ++x) {
        const std::int64_t dx = x - disc_x, dy = y - disc_y;
        const bool in_disc = dx * dx + dy * dy <= r * r;  // The disc hides the rectangle.
        const bool in_rectangle = x >= left && x < right && y >= top && y < bottom;
        masks.push_back(in_disc ? disc : in_rectangle ? rectangle : background);
        pixels.push_back((in_disc || in_rectangle ? 1.0f : 0.0f) + noise(random));
      }
  }
  return {Tensor({count, 1, size, size}, pixels), Tensor({count, size, size}, masks)};
}

/// Returns two convolutions, each with a batch norm and a ReLU behind it.
Value convolutions(Model& model, const std::string& name, Value x, std::int64_t width) {
  for (const std::string layer : {".conv1", ".conv2"}) {
    x = model.conv2d(name + layer, x,
                     {.out_channels = width, .kernel = 3, .padding = 1, .bias = false});
    x = model.relu(model.batch_norm2d(name + layer + ".norm", x));
  }
  return x;
}

/// Returns the network. Each level of it is a block on the way down, and another on the way up.
Model u_net() {
  Model model("u-net", 1);
  Value x = model.input("image", {1, size, size});
  const Value mask = model.input("mask", {size, size}, DType::i64);
  std::vector<Value> skips;
  for (std::int64_t level = 0; level < levels; ++level) {
    const std::string name = "down" + std::to_string(level);
    const auto block = model.block(name);
    skips.push_back(convolutions(model, name, x, channels << level));
    x = model.max_pool2d(skips.back());
  }
  {
    const auto block = model.block("bottom");
    x = convolutions(model, "bottom", x, channels << levels);
  }
  for (std::int64_t level = levels - 1; level >= 0; --level) {
    const std::string name = "up" + std::to_string(level);
    const auto block = model.block(name);
    const std::int64_t width = channels << level;
    x = model.conv_transpose2d(name, x, {.out_channels = width, .kernel = 2, .stride = 2});
    x = convolutions(model, name, model.concat({skips[level], x}), width);
  }
  const auto block = model.block("up0");
  const Value scores = model.conv2d("head", x, {.out_channels = classes, .kernel = 1});
  const Value loss = model.cross_entropy(scores, mask);  // The classes are along axis 1.
  model.output("classes", model.argmax(scores, 1));
  model.output("loss", loss);
  model.loss(loss);
  return model;
}

/// Returns a metric that is the share of pixels whose class is predicted right. With a `label`,
/// only those pixels count that have this class or are predicted to have it, so that the share is
/// the intersection of these two sets over their union.
Metric right_pixels(const std::string& name, std::optional<std::int64_t> label = {}) {
  return {name, [label](const StepResult& result, const Batch& batch) {
            const auto predicted = result.output("classes").as<std::int64_t>();
            // A step of training returns its last micro-batch alone, so the last masks are taken.
            const auto truth = batch.back().as<std::int64_t>().last(predicted.size());
            Score score;
            for (std::size_t i = 0; i < truth.size(); ++i)
              if (!label || predicted[i] == *label || truth[i] == *label) {
                score.sum += predicted[i] == truth[i];
                ++score.count;
              }
            return score;
          }};
}

/// Draws what is true of an image and, beside it, what the network says.
void draw(std::span<const std::int64_t> truth, std::span<const std::int64_t> predicted) {
  for (std::int64_t y = 0; y < size; ++y) {
    for (const auto& labels : {truth, predicted}) {
      for (std::int64_t x = 0; x < size; ++x) std::cout << ".o#"[labels[y * size + x]];
      std::cout << "  ";
    }
    std::cout << '\n';
  }
}

}  // namespace

int main() {
  Model model = u_net();
  Options options{.batch_size = 8};
  options.training.gradient_accumulation = 4;
  // The second stage needs what both levels of the first one have computed, and gets it at once.
  options.topology.stages = {Stage{"down0", "down1", "bottom"}.on(0), Stage{"up1", "up0"}.on(1)};
  TrainingModel training(model, options, Adam{.learning_rate = 0.005});
  std::cout << describe_stages(training.compile_report()) << '\n';

  const std::vector<Metric> metrics{
      mean_of("loss"), right_pixels("accuracy"), right_pixels("background", background),
      right_pixels("discs", disc), right_pixels("rectangles", rectangle)};
  const std::vector<Tensor> unseen = made_up_images(100, 2);
  InferenceModel validation(model, options);
  DataLoader data(tensor_dataset(made_up_images(512, 1)), options, {.shuffle = true});
  DataLoader others(tensor_dataset(unseen), validation.samples_per_run(), {.drop_last = false});
  const History history =
      fit(training, data,
          {.epochs = 8,
           .metrics = metrics,
           .validation_model = &validation,
           .validation_data = &others,
           .callbacks = {early_stopping({.patience = 3, .restore_best_weights = true})}});
  for (const EpochRecord& epoch : history.epochs)
    std::cout << "epoch " << epoch.epoch << ": loss " << value_of(epoch.values, "loss")
              << ", of unseen images " << value_of(epoch.values, "val_loss") << '\n';

  // The file has the weights and the running statistics of the batch norms.
  model.save_weights("segmentation.safetensors");
  Model reloaded = u_net();
  reloaded.load_weights("segmentation.safetensors");
  InferenceModel inference(reloaded, options);
  const Evaluation result = evaluate(inference, others, metrics);
  std::cout << "unseen images: " << result.samples << '\n';
  for (const NamedValue& value : result.values)
    std::cout << value.name << ": " << value.value << '\n';

  // A prediction needs no mask.
  const Tensor predicted = predict(inference, {unseen[0].rows(0, 1)}).front().tensor;
  draw(unseen[1].rows(0, 1).as<std::int64_t>(), predicted.as<std::int64_t>());
  return training.compile_report().stages.size() == 2 && result.samples == 100 &&
                 value_of(result.values, "accuracy") > 0.97 &&
                 value_of(result.values, "discs") > 0.75 &&
                 value_of(result.values, "rectangles") > 0.75
             ? 0
             : 1;
}
