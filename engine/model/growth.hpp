// A Growth stands for the layers that a function of the host's adds to a model during one call of
// Sequential::add(), and says whether they were taken back. Chains and the model's calls share it.
// A call makes it and takes it back; any thread may ask whether it was taken back.
#pragma once

#include <atomic>
#include <memory>
#include <utility>

namespace penstock {

class Growth {
 public:
  /// Makes a growth inside the growth `outer`, if there is one.
  explicit Growth(std::shared_ptr<Growth> outer) : outer_(std::move(outer)) {}

  const std::shared_ptr<Growth>& outer() const noexcept { return outer_; }
  void take_back() noexcept { taken_back_ = true; }
  /// Returns whether this growth, or one around it, was taken back.
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
