// pytorch() loads this module. The module does tasks with libtorch, in the way in which users of
// libtorch would write them.
#include <dlfcn.h>

#include <filesystem>
#include <memory>
#include <vector>

#include "benchmarks/pytorch/pytorch.hpp"
#include "benchmarks/pytorch/torch_networks.hpp"

namespace penstock::benchmarks {
namespace {

using torch::Tensor;

Tensor copy_of(const std::vector<float>& values, const std::vector<std::int64_t>& shape) {
  return torch::tensor(values).reshape(shape);
}

struct MicroBatch {
  Tensor input, labels;
};

Tensor tensor_of(const Samples& samples, const Field& field) {
  std::vector<std::int64_t> shape{samples.count};
  shape.insert(shape.end(), field.shape.begin(), field.shape.end());
  return field.numbers.empty() ? copy_of(field.values, shape)
                               : torch::tensor(field.numbers).reshape(shape);
}

std::vector<MicroBatch> micro_batches(const Samples& samples, std::int64_t batch) {
  const Tensor input = tensor_of(samples, samples.fields[0]);
  const Tensor labels = tensor_of(samples, samples.fields[1]);
  std::vector<MicroBatch> result;
  for (std::int64_t row = 0; row + batch <= samples.count; row += batch)
    result.push_back({input.narrow(0, row, batch), labels.narrow(0, row, batch)});
  return result;
}

std::vector<Tensor> tensors_of(const TorchWeights& weights) {
  std::vector<Tensor> tensors;
  for (const auto& [name, tensor] : weights)
    if (tensor.requires_grad()) tensors.push_back(tensor);
  return tensors;
}

std::unique_ptr<torch::optim::Optimizer> optimizer_for(const Task& task,
                                                       const TorchWeights& weights) {
  const double rate = task.learning_rate;
  if (task.rule == Rule::adamw)
    return std::make_unique<torch::optim::AdamW>(tensors_of(weights),
                                                 torch::optim::AdamWOptions(rate));
  return std::make_unique<torch::optim::SGD>(tensors_of(weights),
                                             torch::optim::SGDOptions(rate).momentum(0.9));
}

class TrainingRunner : public Runner {
 public:
  TrainingRunner(TorchNetwork network, const Task& task, const Cut& cut,
                 const TorchWeights& weights, const Samples& samples)
      : network_(network),
        weights_(weights),
        optimizer_(optimizer_for(task, weights)),
        accumulation_(cut.accumulation),
        micro_batches_(micro_batches(samples, cut.batch)) {}

  void run() override {
    total_loss_ = 0;
    std::int64_t accumulated = 0;
    for (const MicroBatch& batch : micro_batches_) {
      total_loss_ += accumulate(batch);
      if (++accumulated % accumulation_ != 0) continue;
      optimizer_->step();
      optimizer_->zero_grad();
    }
  }
  double outcome() const override {
    return total_loss_ / static_cast<double>(micro_batches_.size());
  }

 private:
  /// Adds the gradient of a micro-batch, and returns the loss of the micro-batch.
  double accumulate(const MicroBatch& batch) {
    const Tensor logits = network_(batch.input, weights_);
    const Tensor loss = torch::cross_entropy_loss(logits.flatten(0, -2), batch.labels.flatten());
    (accumulation_ == 1 ? loss : loss / accumulation_).backward();
    return loss.item<float>();
  }

  TorchNetwork network_;
  TorchWeights weights_;
  std::unique_ptr<torch::optim::Optimizer> optimizer_;
  std::int64_t accumulation_;
  std::vector<MicroBatch> micro_batches_;
  double total_loss_ = 0;
};

class InferenceRunner : public Runner {
 public:
  InferenceRunner(TorchNetwork network, const Cut& cut, const TorchWeights& weights,
                  const Samples& samples)
      : network_(network), weights_(weights), micro_batches_(micro_batches(samples, cut.batch)) {}

  void run() override {
    const c10::InferenceMode no_gradients;
    logits_.clear();
    for (const MicroBatch& batch : micro_batches_)
      logits_.push_back(network_(batch.input, weights_));
  }
  double outcome() const override { return torch::cat(logits_).mean().item<float>(); }

 private:
  TorchNetwork network_;
  TorchWeights weights_;
  std::vector<MicroBatch> micro_batches_;
  std::vector<Tensor> logits_;
};

class DecodingRunner : public Runner {
 public:
  DecodingRunner(const TorchWeights& weights, const Samples& samples)
      : weights_(weights), decoder_(weights_), tokens_(micro_batches(samples, 1)) {}

  void run() override {
    const c10::InferenceMode no_gradients;
    logits_.clear();
    for (const MicroBatch& token : tokens_)
      logits_.push_back(decoder_.next(token.input, static_cast<std::int64_t>(logits_.size())));
  }
  double outcome() const override { return torch::cat(logits_).mean().item<float>(); }

 private:
  TorchWeights weights_;
  TorchDecoder decoder_;
  std::vector<MicroBatch> tokens_;
  std::vector<Tensor> logits_;
};

/// Returns which BLAS computes matrix products, such as "openblas-openmp/libblas.so.3". Debian's
/// libtorch takes the BLAS that the system finds first. This BLAS may be the reference
/// implementation, which is many times slower than the others.
std::string blas() {
  Dl_info info{};
  void* const sgemm = dlsym(RTLD_DEFAULT, "sgemm_");
  if (sgemm == nullptr || dladdr(sgemm, &info) == 0) return "a BLAS of its own";
  const auto file = std::filesystem::canonical(info.dli_fname);
  const std::string folder = file.parent_path().filename();
  return folder + "/" + file.filename().string() + (folder == "blas" ? " (the reference)" : "");
}

class Libtorch : public Pytorch {
 public:
  std::string description() const override { return TORCH_VERSION ", products by " + blas(); }
  void use_threads(int threads) override { torch::set_num_threads(threads); }
  std::unique_ptr<Runner> runner(const Task& task, const Cut& cut, const Weights& weights,
                                 const Samples& samples) override {
    TorchWeights tensors;
    for (const auto& [name, weight] : weights)
      tensors.emplace(name, copy_of(weight.values, weight.shape)
                                .set_requires_grad(task.training && weight.trainable));
    if (task.network == "gpt-decoder") return std::make_unique<DecodingRunner>(tensors, samples);
    const TorchNetwork network = find_torch_network(task.network);
    if (!task.training) return std::make_unique<InferenceRunner>(network, cut, tensors, samples);
    return std::make_unique<TrainingRunner>(network, task, cut, tensors, samples);
  }
};

}  // namespace
}  // namespace penstock::benchmarks

extern "C" [[gnu::visibility("default")]] penstock::benchmarks::Pytorch*
penstock_benchmarks_pytorch() {
  static penstock::benchmarks::Libtorch libtorch;
  return &libtorch;
}
