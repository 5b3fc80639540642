#include "tests/e2e/configurations/small_networks.hpp"

#include <cmath>

namespace penstock::testing {

Tensor numbers(const Shape& shape) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < shape.elements(); ++i)
    values.push_back(std::sin(0.77f * static_cast<float>(i)));
  return {shape, std::span<const float>(values)};
}

Tensor integers(const Shape& shape, std::int64_t limit) {
  std::vector<std::int64_t> values;
  for (std::int64_t i = 0; i < shape.elements(); ++i) values.push_back(i * i % limit);
  return {shape, std::span<const std::int64_t>(values)};
}

namespace {

constexpr std::int64_t classes = 3;

/// A Checkpoints is called with one value after the other, and marks a value as a checkpoint if its
/// bit is set in `bits`. The lowest bit is for the first value.
class Checkpoints {
 public:
  Checkpoints(Model& model, std::uint32_t bits) : model_(&model), bits_(bits) {}
  Value operator()(Value value) {
    const bool marked = bits_ & 1;
    bits_ >>= 1;
    return marked ? model_->recomputation_checkpoint(value) : value;
  }

 private:
  Model* model_;
  std::uint32_t bits_;
};

std::vector<Tensor> images(std::int64_t count) {
  return {numbers({count, 2, 8, 8}), integers({count}, classes)};
}

/// Builds convolutions, pooling and dense layers, most of which the compiler fuses.
Model convolutions(const Marks& marks) {
  Model model("convolutions", 1);
  Checkpoints offer(model, marks.checkpoints);
  Value x = model.input("x", {2, 8, 8});
  const Value labels = model.labels();
  {
    const auto block = model.block("A", marks.ipus[0]);
    x = model.relu(model.max_pool2d(model.conv2d("c1", x, {.out_channels = 5, .kernel = 3})));
  }
  {
    const auto block = model.block("B", marks.ipus[1]);
    x = offer(model.conv2d("c2", offer(x), {.out_channels = 4, .kernel = 3, .padding = 1}));
    x = offer(model.group_norm("norm", model.relu(x), 2));
  }
  {
    const auto block = model.block("C", marks.ipus[2]);
    x = model.linear("f1", model.flatten(x), 9);
    x = model.tanh(offer(x));
  }
  const auto block = model.block("D", marks.ipus[3]);
  x = model.linear("f2", x, classes);
  model.output("out", x);
  model.loss(model.cross_entropy(x, labels));
  return model;
}

/// Builds a network with batch statistics, random numbers, and a value that two later blocks read.
Model residual(const Marks& marks) {
  Model model("residual", 2);
  Checkpoints offer(model, marks.checkpoints);
  const Conv2dOptions convolution{.out_channels = 4, .kernel = 3, .padding = 1};
  Value x = model.input("x", {2, 8, 8});
  const Value labels = model.labels();
  Value skip;
  {
    const auto block = model.block("A", marks.ipus[0]);
    x = offer(model.batch_norm2d("norm1", offer(model.conv2d("conv1", x, convolution))));
    skip = model.relu(model.max_pool2d(x));
  }
  {
    const auto block = model.block("B", marks.ipus[1]);
    x = offer(model.batch_norm2d("norm2", model.conv2d("conv2", skip, convolution)));
    x = offer(model.dropout("dropout2", x, 0.25));
  }
  {
    const auto block = model.block("C", marks.ipus[2]);
    x = model.max_pool2d(model.relu(model.add(x, skip)));
  }
  const auto block = model.block("D", marks.ipus[3]);
  x = model.dropout("dropout4", model.flatten(x), 0.5);
  x = model.linear("logits", x, classes);
  model.output("out", x);
  x = model.add(x, model.linear("short", model.flatten(skip), classes));
  model.loss(model.cross_entropy(x, labels));
  return model;
}

/// Builds dense layers. Three of them, in three blocks, share their weights.
Model tied(const Marks& marks) {
  Model model("tied", 3);
  Checkpoints offer(model, marks.checkpoints);
  Value x = model.input("x", {6});
  const Value target = model.input("target", {6});
  {
    const auto block = model.block("A", marks.ipus[0]);
    x = model.tanh(offer(model.linear("fc1", x, 6)));
  }
  {
    const auto block = model.block("B", marks.ipus[1]);
    x = offer(model.gelu(offer(model.linear(x, model.parameter("fc1.weight")))));
  }
  {
    const auto block = model.block("C", marks.ipus[2]);
    x = model.sigmoid(offer(model.linear("fc2", x, 6)));
  }
  const auto block = model.block("D", marks.ipus[3]);
  x = model.linear("fc3", model.linear(x, model.parameter("fc1.weight")), 6);
  model.output("out", x);
  model.loss(model.mse_loss(x, target));
  return model;
}

std::vector<Tensor> rows(std::int64_t count) {
  return {numbers({count, 6}), numbers({count, 6})};
}

constexpr std::int64_t length = 5, vocabulary = 7, width = 8;

/// Builds attention, and an embedding whose weight the last block uses a second time.
Model sequences(const Marks& marks) {
  Model model("sequences", 4);
  Checkpoints offer(model, marks.checkpoints);
  const Value ids = model.input("ids", {length}, DType::i64);
  const Value labels = model.labels();
  Value x;
  {
    const auto block = model.block("A", marks.ipus[0]);
    x = offer(model.embedding("tokens", ids, vocabulary, width));
  }
  {
    const auto block = model.block("B", marks.ipus[1]);
    const Value y = offer(model.layer_norm("norm1", x));
    x = model.add(x, offer(model.attention(y, y, y, {.causal = true})));
  }
  {
    const auto block = model.block("C", marks.ipus[2]);
    x = offer(model.layer_norm("norm2", model.silu(x)));
    x = model.reshape(model.slice(x, 1, length - 1, length), {width});
  }
  const auto block = model.block("D", marks.ipus[3]);
  x = model.linear(model.dropout("dropout", x, 0.1), model.parameter("tokens.weight"));
  model.output("out", x);
  model.loss(model.cross_entropy(x, labels));
  return model;
}

std::vector<Tensor> sentences(std::int64_t count) {
  return {integers({count, length}, vocabulary), integers({count}, vocabulary)};
}

/// Builds a bidirectional GRU, an attention and a convolution along the steps. The inputs are
/// sequences of bytes whose lengths differ.
Model signals(const Marks& marks) {
  Model model("signals", 6);
  Checkpoints offer(model, marks.checkpoints);
  const Value bytes = model.input("bytes", {length, 3}, DType::u8);
  const Value lengths = model.input("lengths", {}, DType::i64);
  const Value labels = model.labels();
  Value x, state;
  {
    const auto block = model.block("A", marks.ipus[0]);
    const RecurrentOptions options{.hidden_size = 3, .bidirectional = true, .lengths = lengths};
    const Recurrent gru = model.gru("gru", model.to_float(bytes, 1.0 / 64, -1), options);
    x = offer(gru.output);
    state = model.flatten(gru.hidden);
  }
  {
    const auto block = model.block("B", marks.ipus[1]);
    const Value y = offer(model.layer_norm("norm", x));
    x = model.add(x, model.multi_head_attention("attention", y, {.heads = 2, .dropout = 0.1}));
  }
  {
    const auto block = model.block("C", marks.ipus[2]);
    x = model.conv1d("conv", model.transpose(x, {0, 2, 1}),
                     {.out_channels = 4, .kernel = 3, .padding = 1});
    x = offer(model.max_pool1d(model.silu(offer(x)), {.kernel = 2}));
  }
  const auto block = model.block("D", marks.ipus[3]);
  x = model.linear("logits", model.concat({model.flatten(x), state}), classes);
  model.output("out", x);
  model.loss(model.cross_entropy(x, labels));
  return model;
}

std::vector<Tensor> recordings(std::int64_t count) {
  std::vector<std::uint8_t> bytes;
  for (std::int64_t i = 0; i < count * length * 3; ++i)
    bytes.push_back(static_cast<std::uint8_t>(i * i % 251));
  return {Tensor({count, length, 3}, std::span<const std::uint8_t>(bytes)),
          integers({count}, length + 1), integers({count}, classes)};
}

const SmallNetwork networks[] = {
    {"convolutions", convolutions, images, "c2", "c1.weight", 5},
    {"residual", residual, images, "conv2", "norm1.weight", 5},
    {"tied", tied, rows, "fc2", "fc1.weight", 3},
    {"sequences", sequences, sentences, "norm1", "tokens.weight", 2},
    {"signals", signals, recordings, "norm", "gru.weight_ih_l0", 3},
};

/// Builds layers whose work the threads of an IPU share. "fc1.weight" and "fc2.weight" are larger
/// than a piece of any kind, and are no whole number of pieces. Two blocks use "fc1.weight".
Model wide(const Marks& marks) {
  Model model("wide", 5);
  Checkpoints offer(model, marks.checkpoints);
  Value x = model.input("x", {2, 8, 8});
  const Value labels = model.labels();
  {
    const auto block = model.block("A", marks.ipus[0]);
    x = model.conv2d("conv", x, {.out_channels = 24, .kernel = 3, .padding = 1});
    x = offer(model.relu(model.max_pool2d(x)));
  }
  {
    const auto block = model.block("B", marks.ipus[1]);
    x = model.tanh(offer(model.linear("fc1", model.flatten(x), 93)));
    x = model.linear("fc2", x, 384);
  }
  {
    const auto block = model.block("C", marks.ipus[2]);
    x = offer(model.dropout("dropout", model.layer_norm("norm", x), 0.25));
    x = model.gelu(offer(model.linear(x, model.parameter("fc1.weight"))));
  }
  const auto block = model.block("D", marks.ipus[3]);
  x = model.linear("logits", x, classes);
  model.output("out", x);
  model.loss(model.cross_entropy(x, labels));
  return model;
}

const SmallNetwork large{"wide", wide, images, "fc2", "fc1.weight", 4};

}  // namespace

std::span<const SmallNetwork> small_networks() {
  return networks;
}

const SmallNetwork& large_network() {
  return large;
}

}  // namespace penstock::testing
