// A Growth is what a function of the host's adds to a model while one call of Sequential::add()
// runs, and whether that was taken back. Chains share it with the model's calls. It is made and
// taken back inside a call; any thread may ask it.
#pragma once

#include <atomic>
#include <memory>
#include <utility>

namespace penstock {

class Growth {
 public:
  /// `outer` is the growth that this one is a part of, or nothing.
  explicit Growth(std::shared_ptr<Growth> outer) : outer_(std::move(outer)) {}

  const std::shared_ptr<Growth>& outer() const noexcept { return outer_; }
  void take_back() noexcept { taken_back_ = true; }
  /// Returns true once this growth, or one that it is a part of, was taken back.
  bool is_taken_back() const noexcept {
    for (const Growth* growth = this; growth != nullptr; growth = growth->outer_.get())
      if (growth->taken_back_) return true;
    return false;
  }

 private:
  const std::shared_ptr<Growth> outer_;
  std::atomic<bool> taken_back_{false};
};

}  // namespace penstock
