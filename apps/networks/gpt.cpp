#include "apps/networks/gpt.hpp"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "penstock/error.hpp"

namespace penstock::networks {
namespace {

constexpr double first_std = 0.02;

/// A Gpt builds the network layer by layer.
class Gpt {
 public:
  Gpt(const GptOptions& options, std::uint64_t seed) : options_(options), model_("gpt", seed) {}

  Model build_decoder() {
    const Value token = model_.input("token", {1}, DType::i64);
    const Value position = model_.input("position", {}, DType::i64);
    Value x = embed_one(token, position);
    for (int i = 0; i < options_.layers; ++i) {
      const std::string name = transformer_block(i);
      const Value mixed = cached_attention(name + ".attn", norm(name + ".ln_1", x), position);
      x = model_.add(x, mixed);
      x = model_.add(x, perceptron(name + ".mlp", norm(name + ".ln_2", x)));
    }
    model_.output("logits", model_.linear(norm("ln_f", x), model_.parameter("wte.weight")));
    begin_blocks();
    return model_;
  }

  Model build() {
    const Value tokens = model_.input("tokens", {options_.context}, DType::i64);
    const Value next = model_.input("next", {options_.context}, DType::i64);
    Value x = embed(tokens);
    for (int i = 0; i < options_.layers; ++i) {
      const std::string name = transformer_block(i);
      x = model_.add(x, attention(name + ".attn", norm(name + ".ln_1", x)));
      x = model_.add(x, perceptron(name + ".mlp", norm(name + ".ln_2", x)));
    }
    finish(x, next);
    begin_blocks();
    initialize();
    return model_;
  }

 private:
  static std::string transformer_block(int number) { return "h." + std::to_string(number); }

  /// Says where the blocks begin. Model::remove_block_marks() takes that back.
  void begin_blocks() {
    model_.begin_block_at("wte", "embed");
    for (int i = 0; i < options_.layers; ++i)
      model_.begin_block_at(transformer_block(i), transformer_block(i));
    model_.begin_block_at("ln_f", "head");
  }

  Value embed(Value tokens) {
    const Value of_tokens = model_.embedding("wte", tokens, options_.vocabulary, options_.width);
    const Value of_positions = model_.parameter("wpe.weight", {options_.context, options_.width});
    return dropout("drop", model_.add(of_tokens, of_positions));
  }

  Value embed_one(Value token, Value position) {
    const Value of_token = model_.embedding("wte", token, options_.vocabulary, options_.width);
    const Value positions = model_.parameter("wpe.weight", {options_.context, options_.width});
    return model_.add(of_token, model_.embedding(position, positions));
  }

  Value cached_attention(const std::string& name, Value x, Value position) {
    const std::int64_t width = options_.width;
    const Value qkv = linear(name + ".qkv", x, 3 * width);
    const auto part = [&](std::int64_t i) {
      return model_.slice(qkv, 2, i * width, (i + 1) * width);
    };
    const Value mixed =
        model_.cached_attention(name, part(0), part(1), part(2), position,
                                {.heads = options_.heads, .length = options_.context});
    return linear(name + ".proj", mixed, width);
  }

  Value norm(const std::string& name, Value x) {
    constexpr double eps = 1e-5;
    return model_.layer_norm(name, x, 1, eps, false);
  }

  Value linear(const std::string& name, Value x, std::int64_t features) {
    return model_.linear(name, x, features, false);
  }

  Value dropout(const std::string& name, Value x) {
    return options_.dropout > 0 ? model_.dropout(name, x, options_.dropout) : x;
  }

  Value attention(const std::string& name, Value x) {
    const Value qkv = linear(name + ".qkv", x, 3 * options_.width);
    const Value mixed = model_.attention(qkv, {.heads = options_.heads,
                                               .causal = true,
                                               .dropout = options_.dropout,
                                               .name = name + ".drop"});
    return dropout(name + ".resid_drop", linear(name + ".proj", mixed, options_.width));
  }

  Value perceptron(const std::string& name, Value x) {
    constexpr std::int64_t growth = 4;
    const Value hidden = model_.gelu(linear(name + ".fc", x, growth * options_.width));
    return dropout(name + ".drop", linear(name + ".proj", hidden, options_.width));
  }

  void finish(Value x, Value next) {
    const Value logits = model_.linear(norm("ln_f", x), model_.parameter("wte.weight"));
    const Value loss = model_.cross_entropy(logits, next, {.class_axis = -1});
    model_.output("logits", logits);
    model_.output("loss", loss);
    model_.loss(loss);
  }

  /// Sets the first weights. Each block adds to x twice; the weights of these sums are smaller the
  /// more of them there are.
  void initialize() {
    for (const char* pattern : {"wte.weight", "wpe.weight", "h.*.qkv.weight", "h.*.fc.weight"})
      model_.initialize(pattern, Initializer::normal(0, first_std));
    model_.initialize("h.*.proj.weight",
                      Initializer::normal(0, first_std / std::sqrt(2.0 * options_.layers)));
  }

  GptOptions options_;
  Model model_;
};

void expect(bool holds, const std::string& text) {
  if (!holds) throw Error(Errc::invalid_argument, "gpt: " + text);
}

void check_sizes(const GptOptions& options) {
  expect(options.layers >= 1, "expected 1 layer or more, got " + std::to_string(options.layers));
  expect(options.heads >= 1, "expected 1 head or more, got " + std::to_string(options.heads));
  expect(options.width >= 1 && options.width % options.heads == 0,
         "expected a width that is a multiple of " + std::to_string(options.heads) +
             " heads, got " + std::to_string(options.width));
  expect(options.context >= 1,
         "expected a context of 1 token or more, got " + std::to_string(options.context));
  expect(options.vocabulary >= 1,
         "expected a vocabulary of 1 token or more, got " + std::to_string(options.vocabulary));
}

}  // namespace

Model gpt(const GptOptions& options, std::uint64_t seed) {
  check_sizes(options);
  return Gpt(options, seed).build();
}

Model gpt_decoder(const GptOptions& options) {
  check_sizes(options);
  GptOptions writing = options;
  writing.dropout = 0;  // Nothing is dropped when a text is written.
  return Gpt(writing, 0).build_decoder();
}

void copy_parameters(const Model& from, Model& to) {
  // All values are read before the first one is set, so that a missing one changes nothing.
  std::vector<std::pair<std::string, Tensor>> values;
  for (const ParameterInfo& parameter : to.parameters())
    if (!parameter.buffer) values.emplace_back(parameter.name, from.weight(parameter.name));
  for (const auto& [name, value] : values) to.set_weight(name, value);
}

}  // namespace penstock::networks
