#include "apps/trainer/download/print_download.hpp"

#include <optional>
#include <string>

#include "apps/trainer/download/download.hpp"
#include "apps/trainer/output/console.hpp"
#include "apps/trainer/output/progress.hpp"
#include "penstock/error.hpp"

namespace trainer {
namespace {

/// A FileBar is a bar of a hundred ticks for the file that comes.
class FileBar {
 public:
  explicit FileBar(const ProgressStream& stream) : stream_(stream) {}

  void show(const std::string& name, std::uint64_t done, std::uint64_t total) {
    if (!stream_.terminal) return;
    constexpr std::int64_t ticks = 100;
    if (!bar_) bar_.emplace(stream_, "Downloading " + name, ticks);
    const auto wanted = static_cast<std::int64_t>(done * ticks / total);
    for (; shown_ < wanted; ++shown_) bar_->advance("");
  }
  void end() {
    bar_.reset();
    shown_ = 0;
  }

 private:
  const ProgressStream& stream_;
  std::optional<Progress> bar_;
  std::int64_t shown_ = 0;
};

}  // namespace

void print_download(const TrainerOptions& options) {
  const KnownDataset& dataset = known_dataset(options.download.dataset.value());
  const ProgressStream stream =
      options.output.no_progress ? ProgressStream::silent() : ProgressStream::standard_error(false);
  FileBar bar(stream);
  try {
    download(dataset, {.directory = options.data.data_dir.value(),
                       .url = options.download.url.value_or(dataset.url),
                       .authorities = options.download.authorities,
                       .on_file =
                           [&](const std::string& line) {
                             bar.end();
                             print(line + '\n');
                           },
                       .on_progress = [&](const std::string& name, std::uint64_t done,
                                          std::uint64_t total) { bar.show(name, done, total); }});
  } catch (const penstock::Error& error) {
    throw penstock::Error(error.code(), std::string("--download: ") + error.what());
  }
}

}  // namespace trainer
