#include "tests/e2e/configurations/random_layers.hpp"

#include <algorithm>

namespace penstock::testing {
namespace {

std::int64_t size(Model& model, Value value, std::size_t axis) {
  return model.shape(value)[static_cast<std::ptrdiff_t>(axis)];
}

/// Returns a convolution, a transposed one or a pooling over the channels, rows and columns of
/// x [N,C,H,W], which are the slices, rows and columns of a volume of one channel.
Value layer_of_volume(Model& model, Draws& draws, const std::string& name, Value x) {
  const Value volume = model.unsqueeze(x, 1);
  const std::int64_t channels = 1 + draws.below(2);
  const Size3d kernel{1 + 2 * draws.below(2), 3, 1};
  Value y;
  switch (draws.below(3)) {
    case 0: {
      const std::int64_t columns = std::min<std::int64_t>(2, size(model, x, 3));
      return model.squeeze(model.lp_pool3d(volume, 2, {.kernel = {1, 1, columns}, .stride = 1}), 1);
    }
    case 1:
      y = model.conv_transpose3d(name, volume,
                                 {.out_channels = channels,
                                  .kernel = kernel,
                                  .stride = {1, 1, 1 + draws.below(2)},
                                  .padding = {0, 1, 0},
                                  .bias = draws.coin()});
      break;
    default:
      y = model.conv3d(
          name, volume,
          {.out_channels = channels, .kernel = kernel, .padding = {1, 1, 0}, .bias = draws.coin()});
  }
  return model.reshape(y, {-1, size(model, y, 3), size(model, y, 4)});
}

Value weight_normalized(Model& model, Draws& draws, const std::string& name, Value x) {
  const Value weight = model.weight_norm(name, {1 + draws.below(5), size(model, x, 1), 1, 1});
  return model.conv2d(x, weight);
}

/// Returns an attention of one head or two whose queries and keys are rotated. The features of a
/// head are even.
Value rotary_attention(Model& model, Draws& draws, const std::string& name, Value x) {
  const int heads = 1 + draws.below(2);
  const Value q = model.linear(name, x, 2 * heads);
  const Value turned = model.rotary_embedding(q, {.heads = heads, .interleaved = draws.coin()});
  return model.attention(turned, turned, q, {.heads = heads, .causal = draws.coin()});
}

Value along_the_sequence(Model& model, Draws& draws, const std::string& name, Value x) {
  const Value channels = model.transpose(x, {0, 2, 1});
  const std::int64_t results = 1 + draws.below(5);
  Value y;
  switch (draws.below(3)) {
    case 0:
      y = model.conv1d(name, channels, {.out_channels = results, .kernel = 3, .padding = 1});
      break;
    case 1:
      y = model.conv_transpose1d(name, channels,
                                 {.out_channels = results, .kernel = 3, .padding = 1});
      break;
    default:
      y = model.lp_pool1d(model.pad(channels, {1, 0}, {.mode = PadMode::replicate}), 2,
                          {.kernel = 2, .stride = 1});
  }
  return model.transpose(y, {0, 2, 1});
}

/// Returns `output`, that of recurrent layers, plus the mean of `state` [N,S,H], their last states.
/// The mean is added because a stage is refused if nobody uses what it computes.
Value with_state(Model& model, Value output, Value state) {
  return output + model.mean(state, {1, 2}, true);
}

}  // namespace

Value draw_image_layer(Model& model, Draws& draws, const std::string& name, Value x,
                       bool is_first) {
  const std::int64_t rows = size(model, x, 2), columns = size(model, x, 3);
  const bool small = std::min(rows, columns) < 2;
  const bool large = std::max(rows, columns) > 12;
  switch (draws.below(8)) {
    case 0:
      if (large) return model.adaptive_avg_pool2d(x, {3, 2});
      return model.conv_transpose2d(name, x,
                                    {.out_channels = 1 + draws.below(4),
                                     .kernel = {2, 3},
                                     .stride = 1 + draws.below(2),
                                     .bias = draws.coin()});
    case 1:
      return draws.coin() ? model.adaptive_avg_pool2d(x, {1 + draws.below(3), 2})
                          : model.adaptive_max_pool2d(x, {2, 1 + draws.below(3)});
    case 2:
      if (small) return model.flip(x, {1, 3});
      return model.pad(x, {1, 0, 0, 1},
                       {.mode = draws.coin() ? PadMode::reflect : PadMode::replicate});
    case 3:
      return rows * columns > 1 ? model.instance_norm(name, x, 1e-5, true) : model.square(x);
    case 4:
      return size(model, x, 1) % 4 == 0 ? model.pixel_shuffle(x, 2) : model.roll(x, 1, -1);
    case 5:
      return layer_of_volume(model, draws, name, x);
    case 6:
      // The layers that divide the weight by its length read no input, and the first stage of a
      // network may not be made of such layers alone.
      return is_first ? model.neg(x) : weight_normalized(model, draws, name, x);
    default:
      return small ? model.abs(x) : model.lp_pool2d(x, 2, {.kernel = 2, .stride = 1});
  }
}

Value draw_sequence_layer(Model& model, Draws& draws, const std::string& name, Value x) {
  const int layers = 1 + draws.below(2);
  const RecurrentOptions recurrent{.hidden_size = 1 + draws.below(4),
                                   .layers = layers,
                                   .bidirectional = draws.coin(),
                                   .dropout = layers > 1 ? 0.1 : 0};
  const int heads = size(model, x, 2) % 2 == 0 ? 2 : 1;
  switch (draws.below(7)) {
    case 0: {
      const Recurrent gru = model.gru(name, x, recurrent);
      return with_state(model, gru.output, gru.hidden);
    }
    case 1: {
      const Recurrent lstm = model.lstm(name, x, recurrent);
      return with_state(model, lstm.output, lstm.hidden * lstm.cell);
    }
    case 2: {
      const Recurrent rnn = model.rnn(name, x, recurrent);
      return with_state(model, rnn.output, rnn.hidden);
    }
    case 3:
      return model.multi_head_attention(name, x,
                                        {.heads = heads, .dropout = 0.1, .causal = draws.coin()});
    case 4:
      return rotary_attention(model, draws, name, x);
    case 5:
      return along_the_sequence(model, draws, name, x);
    default:
      return model.transformer_encoder_layer(
          name, x, {.heads = heads, .dim_feedforward = 5, .norm_first = draws.coin()});
  }
}

Value draw_row_function(Model& model, Draws& draws, Value x) {
  const std::int64_t features = size(model, x, 1);
  switch (draws.below(9)) {
    case 0:
      return features % 2 == 0 ? model.glu(x) : model.repeat(x, {2});
    case 1:
      return model.sort(x, 1, draws.coin()).values;
    case 2:
      return model.topk(x, 1 + draws.below(static_cast<int>(features))).values;
    case 3:
      return model.cumsum(model.scale(x, 0.25), 1);
    case 4:
      return model.concat({x, model.logsumexp(x, {1}, true), model.norm(x, {1}, 2, true)});
    case 5:
      return model.concat({model.amax(x, {1}, true), model.mean(x, {1}, true), x});
    case 6:
      return model.gather(x, 1, model.argmax(x, 1, true));
    case 7:
      if (features > 12) return model.neg(x);
      return model.reshape(model.matmul(model.unsqueeze(model.tanh(x), 2), model.unsqueeze(x, 1)),
                           {-1});
    default:
      return model.clamp(x, -0.5, 1);
  }
}

Value draw_function_of_two(Model& model, Draws& draws, Value x, Value y) {
  switch (draws.below(7)) {
    case 0:
      return model.minimum(x, y);
    case 1:
      return model.maximum(x, y);
    case 2:
      return x / (model.square(y) + 1);
    case 3:
      return model.where(model.less(x, y), model.scale(x, 0.5), y);
    case 4:
      return model.pow(model.sigmoid(x), model.tanh(y));
    case 5:
      return model.where(model.greater_equal(x, 0.25), model.scale(y, 0.5),
                         model.not_equal(x, y) * model.greater(y, x));
    default:
      return model.add(x, model.stop_gradient(y));
  }
}

}  // namespace penstock::testing
