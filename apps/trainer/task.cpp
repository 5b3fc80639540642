#include "apps/trainer/task.hpp"

#include "apps/networks/gpt.hpp"
#include "apps/networks/networks.hpp"
#include "apps/trainer/images.hpp"
#include "apps/trainer/texts.hpp"

namespace trainer {
namespace {

Task image_task(const TrainerOptions& options, const ProgressStream& stream) {
  const penstock::networks::Network& network =
      penstock::networks::find_network(options.network.model);
  constexpr std::int64_t splits = 2;
  std::optional<Progress> progress;
  const auto on_read = [&] {
    if (!progress && stream.terminal) progress.emplace(stream, "Loading images", splits);
    if (progress) progress->advance("");
  };
  Images images = open_images(options.data, options.network.seed, network, on_read);
  return {.model = network.build(images.kind, options.network.seed),
          .train = std::move(images.train),
          .test = std::move(images.test),
          .files = std::move(images.files),
          .sample_name = "image",
          .training_metrics = {penstock::accuracy("logits")},
          .test_metrics = {penstock::accuracy("logits")}};
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

Task make_task(const TrainerOptions& options, const ProgressStream& stream) {
  return is_text(options.data.dataset) ? text_task(options) : image_task(options, stream);
}

}  // namespace trainer
