// This program trains a small transformer to predict the next byte of a text, in two stages, and
// lets it go on with a prompt. Usage: byte_transformer [FILE [UPDATES]]; without a file it trains
// on a made-up text.
#include <algorithm>
#include <cmath>
#include <iostream>
#include <penstock/penstock.hpp>
#include <random>
#include <string>

using namespace penstock;

constexpr std::int64_t context = 32, width = 32;
constexpr int layers = 2, heads = 4;

/// Returns x with what a block of attention and a perceptron add to it.
Value transformer_block(Model& model, const std::string& name, Value x) {
  const Value qkv = model.linear(name + ".qkv", model.layer_norm(name + ".norm1", x), 3 * width);
  const Value mixed = model.attention(qkv, {.heads = heads, .causal = true});
  x = model.add(x, model.linear(name + ".out", mixed, width));
  const Value hidden = model.linear(name + ".up", model.layer_norm(name + ".norm2", x), 4 * width);
  return model.add(x, model.linear(name + ".down", model.gelu(hidden), width));
}

/// Returns a network that predicts, at each of `context` places, the byte that comes next.
Model transformer(std::int64_t tokens) {
  Model model("transformer", 1);
  model.begin_block("first half", 0);
  const Value bytes = model.input("bytes", {context}, DType::i64);
  const Value next = model.input("next", {context}, DType::i64);
  const Value positions =
      model.parameter("positions", {context, width}, Initializer::normal(0, 0.02));
  Value x = model.add(model.embedding("bytes", bytes, tokens, width), positions);
  for (int i = 0; i < layers; ++i) {
    if (i == layers / 2) model.begin_block("second half", 1);
    x = transformer_block(model, "block" + std::to_string(i), x);
  }
  // The head uses the weight of the embedding, which is in the first stage.
  const Value logits = model.linear(model.layer_norm("norm", x), model.parameter("bytes.weight"));
  const Value loss = model.cross_entropy(logits, next, {.class_axis = -1});
  model.output("logits", logits);
  model.output("loss", loss);
  model.loss(loss);
  model.initialize("bytes.weight", Initializer::normal(0, 0.02));
  return model;
}

/// Returns `count` bytes that the model draws one after the other behind `text`.
std::string continued(InferenceModel& model, const Vocabulary& vocabulary, std::string text,
                      int count) {
  std::mt19937 random(1);
  for (int i = 0; i < count; ++i) {
    const std::size_t known = std::min<std::size_t>(text.size(), context);
    const Tensor tokens = vocabulary.encode(text.substr(text.size() - known));
    std::vector<std::int64_t> window(context, 0);  // No byte sees those behind it.
    std::ranges::copy(tokens.as<std::int64_t>(), window.begin());
    const auto outputs = predict(model, {Tensor({1, context}, window)});
    const auto logits = outputs[0].tensor.as<float>().subspan(
        (known - 1) * static_cast<std::size_t>(vocabulary.size()),
        static_cast<std::size_t>(vocabulary.size()));
    std::vector<double> weights;
    for (const float logit : logits) weights.push_back(std::exp(double{logit}));
    std::discrete_distribution<std::int64_t> distribution(weights.begin(), weights.end());
    text += vocabulary.token(distribution(random));
  }
  return text;
}

std::string made_up_text() {
  std::string text;
  for (int i = 0; i < 400; ++i)
    text +=
        "the " + std::string(i % 3 ? "small " : "large ") + (i % 2 ? "cat" : "dog") + " sleeps\n";
  return text;
}

int main(int argc, char** argv) {
  const std::string text = argc > 1 ? read_text(argv[1]) : made_up_text();
  const Vocabulary vocabulary = Vocabulary::bytes();
  const Tensor tokens = vocabulary.encode(text);
  const std::int64_t trained = tokens.elements() * 9 / 10;

  Model model = transformer(vocabulary.size());
  Options options{.batch_size = 4};
  options.training.gradient_accumulation = 4;
  options.topology.ipus = {0, 1};
  Optimizer optimizer = AdamW{.learning_rate = 0.01};
  optimizer.max_grad_norm = 1;
  TrainingModel training(model, options, optimizer);
  DataLoader data(token_windows(tokens.rows(0, trained), context), options);
  fit(training, data, {.epochs = 1000, .max_updates = argc > 2 ? std::stoi(argv[2]) : 200});

  InferenceModel inference(model, {.batch_size = 4});
  DataLoader rest(
      token_windows(tokens.rows(trained, tokens.elements()), context, WindowStart::in_order), 4,
      {.drop_last = false});
  const double loss = value_of(evaluate(inference, rest, {mean_of("loss")}).values, "loss");
  std::cout << "loss on the rest of the text: " << loss << '\n'
            << continued(inference, vocabulary, "the ", 60) << '\n';
  return loss < 1 || argc > 1 ? 0 : 1;  // One byte in 256, guessed, has a loss of 5.5.
}
