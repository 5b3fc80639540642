#include "engine/ipu_occupants.hpp"

#include <algorithm>

namespace penstock {

bool IpuOccupants::have_room_for(const IpuBytes& bytes, std::int64_t limit) const {
  if (limit == 0) return true;
  IpuBytes all = bytes;
  for (const IpuStay* stay : stays_)
    for (const auto& [ipu, taken] : stay->bytes_) all[ipu] += taken;
  return std::ranges::all_of(all, [limit](const auto& each) { return each.second <= limit; });
}

void IpuOccupants::make_room_for(const IpuBytes& bytes, std::int64_t limit) {
  while (!stays_.empty() && !have_room_for(bytes, limit)) {
    const auto leave = stays_.front()->leave_;  // The copy of the function outlives the stay.
    leave();
  }
}

IpuStay::IpuStay(std::shared_ptr<IpuOccupants> occupants, IpuBytes bytes,
                 std::function<void()> leave)
    : occupants_(std::move(occupants)), bytes_(std::move(bytes)), leave_(std::move(leave)) {
  occupants_->stays_.push_back(this);
  ++occupants_->count_;
}

void IpuStay::use() {
  std::erase(occupants_->stays_, this);
  occupants_->stays_.push_back(this);
}

IpuStay::~IpuStay() {
  --occupants_->count_;
  std::erase(occupants_->stays_, this);
}

}  // namespace penstock
