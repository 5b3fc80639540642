#include "graph/plan/optimizers/rmsprop.hpp"

#include "graph/kernels/kernel_table.hpp"

namespace penstock::graph {
namespace {

constexpr HyperNumber numbers[] = {{"learning_rate", &Hyper::learning_rate},
                                   {"alpha", &Hyper::alpha},
                                   {"eps", &Hyper::eps},
                                   {"momentum", &Hyper::momentum},
                                   {"weight_decay", &Hyper::weight_decay}};
constexpr HyperSwitch switches[] = {{"centered", &Hyper::centered},
                                    {"tf_variant", &Hyper::tf_variant}};

/// Other names for other quantities: TensorFlow's has the learning rates in its momentum, and a
/// mean of squares with a share of the one that it starts from.
std::vector<StateTensor> state(const Hyper& hyper) {
  const bool tf = hyper.tf_variant;
  std::vector<StateTensor> tensors{{tf ? "rms" : "square_avg", tf ? 1.0f : 0.0f, true}};
  if (hyper.centered) tensors.push_back({tf ? "mg" : "grad_avg"});
  if (hyper.momentum != 0) tensors.push_back({tf ? "momentum" : "momentum_buffer"});
  return tensors;
}

void update(const Hyper& hyper, std::int64_t, std::span<float> weight,
            const SummedGradient& gradient, std::span<const std::span<float>> state) {
  const bool tf = hyper.tf_variant;
  const auto rate = static_cast<float>(hyper.learning_rate), eps = static_cast<float>(hyper.eps);
  // The learning rate goes into the momentum buffer, or comes after it.
  const RmsPropConstants constants{.alpha = static_cast<float>(hyper.alpha),
                                   .inflow = static_cast<float>(1 - hyper.alpha),
                                   .decay = static_cast<float>(hyper.weight_decay),
                                   .momentum = static_cast<float>(hyper.momentum),
                                   .rate_in = tf ? rate : 1,
                                   .rate_out = tf ? 1 : rate,
                                   .eps_in = tf ? eps : 0,
                                   .eps_out = tf ? 0 : eps};
  kernel_table().updates.rmsprop(std::ssize(weight), constants, gradient, weight.data(),
                                 state[0].data(), hyper.centered ? state[1].data() : nullptr,
                                 hyper.momentum != 0 ? state.back().data() : nullptr);
}

}  // namespace

const OptimizerRule rmsprop{
    .name = "rmsprop", .state = state, .update = update, .numbers = numbers, .switches = switches};

}  // namespace penstock::graph
