#include "apps/trainer/task.hpp"

#include <utility>

#include "apps/networks/gpt.hpp"
#include "apps/networks/networks.hpp"
#include "apps/trainer/images.hpp"
#include "apps/trainer/texts.hpp"

namespace trainer {
namespace {

using penstock::networks::Network;

Images read_images(const TrainerOptions& options, const Network& network,
                   const ProgressStream& stream) {
  constexpr std::int64_t splits = 2;
  std::optional<Progress> progress;
  const auto on_read = [&] {
    if (!progress && stream.terminal) progress.emplace(stream, "Loading images", splits);
    if (progress) progress->advance("");
  };
  return open_images(options.data, options.network.seed, network, on_read);
}

/// Returns the task of training `model` on the images. The output `logits` has the scores.
Task image_task(const penstock::Model& model, Images images, const std::string& logits) {
  return {.model = model,
          .train = std::move(images.train),
          .test = std::move(images.test),
          .files = std::move(images.files),
          .notes = std::move(images.notes),
          .sample_name = "image",
          .training_metrics = {penstock::accuracy(logits)},
          .test_metrics = {penstock::accuracy(logits)},
          .normalization = images.normalization};
}

/// Returns the task of training an imported network.
Task image_task(const TrainerOptions& options, const OnnxNetwork& network,
                const ProgressStream& stream) {
  Images images = read_images(options, network.demand(), stream);
  if (network.takes_rows) {
    images.train = as_rows(images.train);
    images.test = as_rows(images.test);
  }
  Task task = image_task(network.model, std::move(images), network.logits);
  task.infinite_constants = network.infinite_constants;
  return task;
}

/// Returns the task of training one of the trainer's own networks.
Task image_task(const TrainerOptions& options, const ProgressStream& stream) {
  const Network& network = penstock::networks::find_network(options.network.model);
  Images images = read_images(options, network, stream);
  return image_task(network.build(images.kind, options.network.seed), std::move(images), "logits");
}

Task text_task(const TrainerOptions& options) {
  penstock::networks::GptOptions sizes = gpt_options(options.network);
  Texts texts = open_texts(options.data, sizes.context, options.network.seed);
  sizes.vocabulary = texts.vocabulary.size();
  return {.model = penstock::networks::gpt(sizes, options.network.seed),
          .train = std::move(texts.train),
          .test = std::move(texts.test),
          .files = {texts.file},
          .sample_name = "window",
          .test_metrics = {penstock::mean_of("loss")},
          .tokens_per_sample = sizes.context,
          .draws_samples = !options.data.no_shuffle,
          .vocabulary = std::move(texts.vocabulary)};
}

}  // namespace

Task make_task(const TrainerOptions& options, const std::optional<OnnxNetwork>& imported,
               const ProgressStream& stream) {
  if (is_text(options.data.dataset)) return text_task(options);
  return imported ? image_task(options, *imported, stream) : image_task(options, stream);
}

}  // namespace trainer
