// This program learns to tell four spoken words apart, in the way of the small networks for
// microcontrollers: a kernel of 10 steps by 4 frequencies, and then layers that convolve each
// channel by itself before they mix the channels. The words are made up: each is a path of a tone
// through the frequencies. The training stops when the words of other speakers are told apart no
// better, and the best weights are saved.
#include <cmath>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <memory>
#include <penstock/penstock.hpp>
#include <random>
#include <vector>

using namespace penstock;

namespace {

constexpr std::int64_t steps = 49, bands = 10, words = 4, channels = 16;

/// A Speakers is a stream of words. It could as well read them from a microphone or a socket.
class Speakers : public IterableDataset {
 public:
  Speakers(std::int64_t count, unsigned seed) : count_(count), seed_(seed) {}

  const std::vector<Field>& fields() const override { return fields_; }
  std::optional<std::int64_t> size() const override { return count_; }
  std::unique_ptr<SampleStream> begin(const WorkerInfo& worker) const override {
    return std::make_unique<Words>(worker.end(count_) - worker.begin(count_),
                                   seed_ + 1000 * static_cast<unsigned>(worker.index));
  }

 private:
  class Words : public SampleStream {
   public:
    Words(std::int64_t count, unsigned seed) : left_(count), random_(seed) {}

    bool next(std::span<std::byte* const> destinations, const std::stop_token&) override {
      if (left_-- == 0) return false;
      const std::int64_t word = static_cast<std::int64_t>(random_() % words);
      const std::vector<float> spectrum = spoken(word);
      std::memcpy(destinations[0], spectrum.data(), spectrum.size() * sizeof(float));
      std::memcpy(destinations[1], &word, sizeof word);
      return true;
    }

   private:
    /// Returns the strength of each band at each step, with noise.
    std::vector<float> spoken(std::int64_t word) {
      std::normal_distribution<float> noise(0, 0.5f);
      const float begin = 0.5f * noise(random_), speed = 1 + 0.1f * noise(random_);
      std::vector<float> spectrum;
      for (int step = 0; step < steps; ++step)
        for (int band = 0; band < bands; ++band) {
          const float time = speed * static_cast<float>(step) / steps;
          const float tone = begin + 4.5f + 4 * std::sin(6 * time * static_cast<float>(word + 1));
          spectrum.push_back(std::exp(-std::abs(static_cast<float>(band) - tone)) + noise(random_));
        }
      return spectrum;
    }

    std::int64_t left_;
    std::mt19937 random_;
  };

  std::int64_t count_;
  unsigned seed_;
  std::vector<Field> fields_ = {{"spectrum", DType::f32, {1, steps, bands}},
                                {"word", DType::i64, {}}};
};

Model network() {
  Model model("keywords", 1);
  Value x = model.input("spectrum", {1, steps, bands});
  const Value word = model.labels("word");
  x = model.conv2d("first", x,
                   {.out_channels = channels, .kernel = {10, 4}, .stride = 2, .padding = {5, 1}});
  x = model.relu(model.batch_norm2d("first.norm", x));
  for (const std::string name : {"second", "third"}) {
    x = model.conv2d(name + ".each", x,
                     {.out_channels = channels, .kernel = 3, .padding = 1, .groups = channels});
    x = model.relu(model.batch_norm2d(name + ".each.norm", x));
    x = model.conv2d(name + ".mixed", x, {.out_channels = channels, .kernel = 1});
    x = model.relu(model.batch_norm2d(name + ".mixed.norm", x));
  }
  x = model.linear("out", model.flatten(model.global_avg_pool2d(x)), words);
  const Value loss = model.cross_entropy(x, word);
  model.output("scores", x);
  model.output("loss", loss);
  model.loss(loss);
  return model;
}

}  // namespace

int main() {
  Model model = network();
  const Options options{.batch_size = 32};
  TrainingModel training(model, options, Adam{.learning_rate = 0.01});
  InferenceModel validation(model, options);
  DataLoader data(std::make_shared<Speakers>(2048, 1), options);
  DataLoader others(std::make_shared<Speakers>(300, 77), 32, {.drop_last = false});
  fit(training, data,
      {.epochs = 20,
       .metrics = {mean_of("loss"), accuracy("scores")},
       .validation_model = &validation,
       .validation_data = &others,
       .callbacks = {early_stopping({.patience = 4, .restore_best_weights = true})}});

  const auto path = std::filesystem::temp_directory_path() / "keywords.safetensors";
  model.save_weights(path.string());
  Model again = network();
  again.load_weights(path.string());
  std::filesystem::remove(path);
  InferenceModel spotting(again, options);
  const Evaluation best = evaluate(spotting, others, {accuracy("scores")});
  std::cout << "accuracy " << value_of(best.values, "accuracy") << " over " << best.samples
            << " words\n";
  return best.samples == 300 && value_of(best.values, "accuracy") > 0.9 ? 0 : 1;
}
