// A WaitPicture collects what the actors of a pipeline wait for, for somebody who has asked from
// another thread. The supervisor fills the picture, answer by answer. Answers for which there is no
// memory are missing. Any thread may use a WaitPicture.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "actors/host/bell.hpp"
#include "actors/host/wait.hpp"

namespace penstock::actors {

class WaitPicture {
 public:
  /// Rings `bell` once all answers have come.
  explicit WaitPicture(std::shared_ptr<Bell> bell) noexcept : bell_(std::move(bell)) {}

  /// Begins anew: `actors` actors have been asked. `waits` are waits that are known before any
  /// actor answers.
  void begin(std::size_t actors, std::vector<Wait> waits) noexcept;
  /// Adds an actor's answer. The text of `wait` is empty if the actor has no wait to report.
  void add(const Wait& wait) noexcept;

  /// Returns whether every actor that was asked has answered.
  bool complete() const noexcept;

  struct Content {
    std::vector<Wait> waits = {};  ///< Has the waits in the order of their actors' names.
    std::size_t asked = 0;         ///< Counts the actors that were asked.
    std::size_t silent = 0;        ///< Counts the asked actors that have not answered.
  };
  /// Hands over the waits that have come so far.
  Content take();

 private:
  const std::shared_ptr<Bell> bell_;
  mutable std::mutex mutex_;
  std::vector<Wait> waits_;
  bool begun_ = false;
  std::size_t asked_ = 0;
  std::size_t answers_ = 0;
};

}  // namespace penstock::actors
