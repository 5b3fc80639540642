#include "actors/loader/loader_watch.hpp"

namespace penstock::actors {

std::string LoaderWatch::describe() const {
  std::string text;
  for (std::size_t worker = 0; worker < reading_.size(); ++worker) {
    const std::int64_t sample = reading_[worker].load() - 1;
    text += (worker ? ", worker " : "worker ") + std::to_string(worker) +
            (sample < 0 ? " waits for work"
                        : " has not finished reading sample " + std::to_string(sample));
  }
  return text;
}

}  // namespace penstock::actors
