// A WaitPicture collects what the actors of a pipeline wait for, for a thread that runs no actor.
// The supervisor fills the picture, answer by answer. Answers for which there is no memory are
// missing. Any thread may use a WaitPicture.
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
  /// Makes an empty picture that rings `bell` once all answers have come.
  explicit WaitPicture(std::shared_ptr<Bell> bell) noexcept : bell_(std::move(bell)) {}

  /// Begins anew, and expects answers of `actors` actors. `waits` are waits that are known before
  /// any actor answers.
  void begin(std::size_t actors, std::vector<Wait> waits) noexcept;
  /// Adds an actor's answer. The text of `wait` is empty if the actor has no wait to report.
  void add(const Wait& wait) noexcept;

  /// Returns whether actors were asked by begin(), and all of them have answered.
  bool complete() const noexcept;

  struct Content {
    std::vector<Wait> waits = {};  ///< The waits are in the order of their actors' names.
    std::size_t asked = 0;         ///< This many actors were asked.
    std::size_t silent = 0;        ///< This many of the asked actors have not answered.
  };
  /// Returns the waits that have come so far, and removes them from the picture.
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
