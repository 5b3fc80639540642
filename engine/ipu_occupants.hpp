// IpuOccupants are the plans of one model, for whole calls and for shorter ones, that are on the
// same IPUs. If the IPUs have a limit of memory, plans that exceed it together take turns on them.
// One thread at a time uses them.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace penstock {

/// IpuBytes are the bytes that a plan takes, by the number of the IPU.
using IpuBytes = std::map<std::int64_t, std::int64_t>;

class IpuStay;

class IpuOccupants {
 public:
  /// Returns whether `bytes` fit beside all plans that are there, within `limit` bytes of each IPU.
  /// A `limit` of 0 means that there is no limit.
  bool have_room_for(const IpuBytes& bytes, std::int64_t limit) const;
  /// Makes plans leave until `bytes` fit. The plan that was used longest ago leaves first.
  /// @throws what the `leave` function of a plan throws.
  void make_room_for(const IpuBytes& bytes, std::int64_t limit);

  /// Returns whether any plan is there. Any thread may call the function.
  bool any() const noexcept { return count_ > 0; }

 private:
  friend class IpuStay;
  // `stays_` has the stays in the order in which they were last used.
  std::vector<IpuStay*> stays_;
  std::atomic<std::size_t> count_{0};
};

/// An IpuStay is the stay of a plan: the plan is on its IPUs for as long as this object lives.
class IpuStay {
 public:
  /// Adds a plan that takes `bytes` to `occupants`. `leave` is called to make the plan leave; it
  /// ends the stay.
  IpuStay(std::shared_ptr<IpuOccupants> occupants, IpuBytes bytes, std::function<void()> leave);
  ~IpuStay();
  /// Notes that the plan is used now. A plan counts as used when its stay begins, too.
  void use();
  IpuStay(const IpuStay&) = delete;
  IpuStay& operator=(const IpuStay&) = delete;

 private:
  friend class IpuOccupants;
  std::shared_ptr<IpuOccupants> occupants_;
  IpuBytes bytes_;
  std::function<void()> leave_;
};

}  // namespace penstock
