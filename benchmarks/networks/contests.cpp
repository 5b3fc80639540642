#include "benchmarks/networks/contests.hpp"

#include "benchmarks/networks/deep_contests.hpp"
#include "benchmarks/networks/settings.hpp"

namespace penstock::benchmarks {
namespace {

constexpr const char* one = "B1,B2,B3,B4";
constexpr const char* two = "B1|B2,B3,B4";
constexpr const char* four = "B1|B2|B3|B4";

constexpr std::int64_t mnist_updates = 10;

Contest any_400_per_update() {
  Contest contest{.title = "mnist-cnn training, any 400 an update",
                  .task = mnist_training().task,
                  .megaflops = mnist_training().megaflops,
                  .settings = {},
                  .pytorch = {400, 1, mnist_updates},
                  .goal = {.samples_per_second = 54'000}};
  const auto add = [&](const char* stages, int replicas, std::int64_t batch) {
    contest.settings.push_back(
        training(stages, replicas, {batch, 400 / batch / replicas, mnist_updates}));
  };
  for (const std::int64_t batch : {16, 40, 80}) add(four, 1, batch);
  for (const std::int64_t batch : {16, 80}) add(two, 1, batch);
  for (const std::int64_t batch : {40, 50, 100, 200}) add(one, 2, batch);
  for (const std::int64_t batch : {16, 80}) add(one, 5, batch);
  add(one, 1, 80);
  return contest;
}

Contest mnist_inference() {
  constexpr std::int64_t samples = 7'680;
  Contest contest{.title = "mnist-cnn inference",
                  .task = {.network = "mnist-cnn", .training = false},
                  .megaflops = 1.10,
                  .settings = {},
                  .pytorch = {256, 1, samples / 256},
                  .goal = {.samples_per_second = 120'000}};
  for (const std::int64_t batch : {16, 32, 64, 128, 256})
    for (const int replicas : {1, 2})
      contest.settings.push_back(inference(one, replicas, batch, samples));
  for (const std::int64_t batch : {16, 32, 64, 128})
    contest.settings.push_back(inference(four, 1, batch, samples));
  return contest;
}

Contest mnist_inference_of_8() {
  return {.title = "mnist-cnn inference, test batch size 8",
          .task = {.network = "mnist-cnn", .training = false},
          .megaflops = 1.10,
          .settings = {inference(four, 1, 8, 4'000)},
          .pytorch = {8, 1, 500}};
}

Contest fashion_training() {
  constexpr std::int64_t updates = 100;
  return {.title = "fashion-cnn training, 16 an update",
          .task = {.network = "fashion-cnn", .rule = Rule::momentum},
          .megaflops = 1.44,
          .settings = {training(one, 1, {16, 1, updates}), training(one, 2, {8, 1, updates}),
                       training(two, 1, {16, 1, updates}), training(two, 1, {8, 2, updates}),
                       training(four, 1, {4, 4, updates})},
          .pytorch = {16, 1, updates},
          .goal = {.times_pytorch = 8, .times_openblas = 5}};
}

Contest mlp_training(const Cut& pytorch, const Goal& goal) {
  constexpr std::int64_t updates = 25;
  return {.title = "mlp training, 128 an update",
          .task = {.network = "mlp", .rule = Rule::momentum},
          .megaflops = 1.06,
          .settings = {training(four, 1, {32, 4, updates}), training(two, 1, {32, 4, updates}),
                       training(two, 1, {64, 2, updates}), training(one, 1, {32, 4, updates}),
                       training(one, 1, {128, 1, updates}), training(one, 2, {64, 1, updates}),
                       training(one, 2, {32, 2, updates}), training(one, 4, {32, 1, updates})},
          .pytorch = pytorch,
          .goal = goal};
}

Contest keyword_training() {
  constexpr std::int64_t updates = 20;
  return {.title = "keyword network training, 32 an update",
          .unit = "words/s",
          .task = {.network = "keywords"},
          .megaflops = 15.3,
          .settings = {training("", 1, {32, 1, updates}),
                       with_two_threads(training("", 1, {32, 1, updates}))},
          .pytorch = {32, 1, updates},
          .goal = {.times_pytorch = 3}};
}

Contest gpt_training() {
  constexpr std::int64_t updates = 10;
  return {.title = "gpt training, 12 an update",
          .unit = "windows/s",
          .task = {.network = "gpt"},
          .megaflops = 338,
          .settings = {training("", 1, {12, 1, updates}), training("", 2, {6, 1, updates}),
                       training("embed,h.0,h.1|h.2,h.3,head", 1, {6, 2, updates})},
          .pytorch = {12, 1, updates},
          .goal = {.times_pytorch = 2}};
}

/// Returns the writing of a text of 64 tokens, one at a time.
Contest gpt_decoding() {
  constexpr std::int64_t tokens = 64;
  return {.title = "gpt decoding, a token at a time",
          .unit = "tokens/s",
          .task = {.network = "gpt-decoder", .training = false},
          .megaflops = 1.65,
          .settings = {inference("", 1, 1, tokens), with_two_threads(inference("", 1, 1, tokens))},
          .pytorch = {1, 1, tokens},
          .goal = {.times_pytorch = 5}};
}

/// Returns the training of an LSTM of two layers. A sample has 64 steps, and each step costs two
/// products of a row by a matrix [128,512] in each layer.
Contest lstm_training() {
  constexpr std::int64_t updates = 10;
  constexpr double product = 64 * 2.0 * 128 * 512 * 1e-6;
  constexpr double megaflops = 3 * 2 * 2 * product - product;
  Setting two_stages{.name = "2 stages, b=16 G=2", .cut = {16, 2, updates}};
  two_stages.topology.automatic_stages = 2;
  two_stages.topology.ipus = {0, 1};
  return {.title = "lstm training, 32 an update",
          .unit = "sequences/s",
          .task = {.network = "lstm"},
          .megaflops = megaflops,
          .settings = {with_two_threads(training("", 1, {32, 1, updates})),
                       training("", 2, {16, 1, updates}), two_stages},
          .pytorch = {32, 1, updates},
          .goal = {.times_pytorch = 2}};
}

std::vector<Contest> small_contests() {
  return {mnist_training(),
          any_400_per_update(),
          mnist_inference(),
          mnist_inference_of_8(),
          fashion_training(),
          mlp_training({32, 4, 25}, {.times_pytorch = 5, .times_openblas = 4}),
          mlp_training({128, 1, 25}, {}),
          keyword_training(),
          gpt_training(),
          gpt_decoding(),
          lstm_training()};
}

}  // namespace

const Contest& mnist_training() {
  static const Contest contest{
      .title = "mnist-cnn training, its own topology",
      .task = {.network = "mnist-cnn", .rule = Rule::adamw},
      .megaflops = 3.00,
      .settings = {training(four, 1, {40, 10, mnist_updates})},
      .pytorch = {40, 10, mnist_updates},
      .goal = {.samples_per_second = 38'000, .times_pytorch = 7, .times_openblas = 5}};
  return contest;
}

const std::vector<Contest>& contests(Networks networks) {
  static const std::vector<Contest> small = small_contests(), deep = deep_contests();
  return networks == Networks::deep ? deep : small;
}

}  // namespace penstock::benchmarks
