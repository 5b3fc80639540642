#include "actors/host/wait.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "graph/values/number_range.hpp"

namespace penstock::actors {
namespace {

using Way = std::vector<std::string>;

/// A Deadlock finds the waits that are stuck. A stuck wait cannot end unless another stuck wait
/// ends first.
class Deadlock {
 public:
  explicit Deadlock(std::span<const Wait> waits) : waits_(waits), stuck_(waits.size(), true) {
    while (free_one()) {
    }
  }

  std::vector<std::size_t> cycle() const {
    std::vector<std::size_t> path;
    auto next = std::ranges::find(stuck_, true);
    if (next == stuck_.end()) return path;
    auto at = static_cast<std::size_t>(next - stuck_.begin());
    while (std::ranges::count(path, at) == 0) {
      path.push_back(at);
      at = stuck_one_of(waits_[at]);
    }
    path.erase(path.begin(), std::ranges::find(path, at));
    return path;
  }

 private:
  std::optional<std::size_t> stuck_position(const std::string& actor) const {
    for (std::size_t i = 0; i < waits_.size(); ++i)
      if (stuck_[i] && waits_[i].actor == actor) return i;
    return std::nullopt;
  }
  bool is_open(const Way& way) const {
    return std::ranges::none_of(
        way, [this](const std::string& actor) { return stuck_position(actor).has_value(); });
  }
  bool may_end(const Wait& wait) const {
    return wait.ways.empty() ||
           std::ranges::any_of(wait.ways, [this](const Way& way) { return is_open(way); });
  }
  bool free_one() {
    for (std::size_t i = 0; i < waits_.size(); ++i)
      if (stuck_[i] && may_end(waits_[i])) {
        stuck_[i] = false;
        return true;
      }
    return false;
  }
  /// Returns the position of the first stuck actor that the stuck wait `wait` waits for. Each way
  /// in which a stuck wait may end names a stuck actor, so that it is enough to look at the first
  /// way.
  std::size_t stuck_one_of(const Wait& wait) const {
    for (const std::string& actor : wait.ways.front())
      if (const auto position = stuck_position(actor)) return *position;
    return 0;
  }

  std::span<const Wait> waits_;
  std::vector<bool> stuck_;
};

}  // namespace

std::vector<std::string> awaited_by(const Wait& wait) {
  std::vector<std::string> all;
  for (const Way& way : wait.ways)
    for (const std::string& actor : way)
      if (std::ranges::count(all, actor) == 0) all.push_back(actor);
  return all;
}

std::vector<std::size_t> cycle_of(std::span<const Wait> waits) {
  return Deadlock(waits).cycle();
}

std::string seconds_text(double seconds) {
  // The text is rounded to whole parts, of which a second has this many.
  const double parts = seconds < 1 ? 1e6 : 1e3;
  return number_text(std::round(seconds * parts) / parts) + " s";
}

std::string to_string(const Wait& wait, std::int64_t now_ns) {
  std::string text = wait.actor + " " + wait.text;
  if (wait.since_ns > 0)
    text += ", for " + seconds_text(static_cast<double>(now_ns - wait.since_ns) * 1e-9);
  return text;
}

std::string cycle_text(std::span<const Wait> waits) {
  const std::vector<std::size_t> cycle = cycle_of(waits);
  if (cycle.empty()) return "";
  std::string text = "the waits form a cycle: " + waits[cycle.front()].actor;
  for (std::size_t i = 1; i <= cycle.size(); ++i)
    text += (i == 1 ? " waits for " : ", which waits for ") + waits[cycle[i % cycle.size()]].actor;
  return text;
}

}  // namespace penstock::actors
