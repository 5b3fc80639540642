// SharedNames say whose parameters a layer has, if it has those of an earlier layer; see
// Layers::share_parameters(). They are plain data: names of layers, which are also the beginnings
// of the names of their parameters.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace penstock {

class SharedNames {
 public:
  /// Says that the layer `layer`, and those whose names begin with `layer` and a dot, have the
  /// parameters of `source`, or of the layers whose names go on in the same way.
  void add(const std::string& layer, const std::string& source) { sources_.emplace(layer, source); }

  /// Returns the name of the parameter that stands in the place of `parameter`, such as
  /// "left.conv1.weight" in that of "right.conv1.weight", or nothing if the parameter is a layer's
  /// own. Of several layers that the name begins with, the longest counts.
  std::optional<std::string> source_of(const std::string& parameter) const;

  /// Notes that the parameter `parameter` was asked for. `added` says whether a layer that is being
  /// added has asked for it, and not the host for a parameter that is there.
  void note_use(const std::string& parameter, bool added);
  /// Returns whether a layer that was being added has asked for `parameter`.
  bool is_added(std::string_view parameter) const;
  /// Returns how often note_use() was called; forget_uses() forgets all calls but the first
  /// `count`.
  std::size_t uses() const noexcept { return uses_.size(); }
  void forget_uses(std::size_t count) noexcept { uses_.resize(count); }

  /// Returns the name of a layer that was added by add() and whose parameters were never asked for,
  /// nor by way of another layer that has them, or an empty name if there is none.
  std::string unused() const;

 private:
  struct Use {
    std::string parameter;
    bool added = false;
  };
  using Sources = std::map<std::string, std::string, std::less<>>;

  /// Returns the longest layer that the name `parameter` begins with, and its source.
  Sources::const_iterator find(std::string_view parameter) const;
  /// Returns the name that stands in the place of `parameter` because of `share`, which find() has
  /// returned. Another one may stand in its place in turn.
  static std::string source_by(Sources::const_iterator share, const std::string& parameter);

  Sources sources_;  // This has the source of each layer.
  std::vector<Use> uses_;
};

/// Returns whether the parameter `parameter` belongs to the layer `layer`, or to a layer whose name
/// begins with `layer` and a dot, or is itself called `layer`.
bool belongs_to(std::string_view parameter, std::string_view layer);

}  // namespace penstock
