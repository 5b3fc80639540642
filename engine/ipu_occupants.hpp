// IpuOccupants: the plans of one model, for whole calls and for shorter ones, that are on the same
// IPUs. Where these have a limit, plans that exceed it together take turns there. Used from one
// thread at a time.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace penstock {

/// Bytes that a plan takes, by IPU.
using IpuBytes = std::map<std::int64_t, std::int64_t>;

class IpuStay;

class IpuOccupants {
 public:
  /// Whether so much fits beside all that are there, within `limit` bytes of each IPU (0: none).
  bool have_room_for(const IpuBytes& bytes, std::int64_t limit) const;
  /// Has others leave until it does, first of all the one that was used longest ago.
  /// @throws what they throw who cannot.
  void make_room_for(const IpuBytes& bytes, std::int64_t limit);

  /// Returns whether any plan is there. May be asked on any thread.
  bool any() const noexcept { return count_ > 0; }

 private:
  friend class IpuStay;
  std::vector<IpuStay*> stays_;  // the one used last is the last
  std::atomic<std::size_t> count_{0};
};

/// A plan on its IPUs, for as long as it lives.
class IpuStay {
 public:
  /// `leave` ends it.
  IpuStay(std::shared_ptr<IpuOccupants> occupants, IpuBytes bytes, std::function<void()> leave);
  ~IpuStay();
  /// Now. It was as it came, too.
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
