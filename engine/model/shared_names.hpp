// SharedNames say whose parameters a layer has, if it has those of an earlier layer; see
// Layers::share_parameters(). They are plain data: names of layers, which are also the beginnings
// of the names of their parameters.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace penstock {

class SharedNames {
 public:
  /// Says that the layer `layer`, and those whose names begin with `layer` and a dot, have the
  /// parameters of `source`, or of the layers whose names go on in the same way.
  void add(const std::string& layer, const std::string& source) { sources_[layer] = {source}; }

  /// Returns the name of the parameter that stands in the place of `parameter`, such as
  /// "left.conv1.weight" in that of "right.conv1.weight", or nothing if the parameter is a layer's
  /// own. Of several layers that the name begins with, the longest counts.
  std::optional<std::string> source_of(const std::string& parameter) const;

  /// Notes that a layer has asked for the parameter `parameter`.
  void note_use(const std::string& parameter);
  /// Returns the name of a layer that was added by add() and whose parameters no layer has asked
  /// for, or an empty name if there is none.
  std::string unused() const;

 private:
  struct Source {
    std::string name;
    bool used = false;
  };
  std::map<std::string, Source>::const_iterator find(const std::string& parameter) const;

  std::map<std::string, Source> sources_;  // This has the source of each layer.
};

/// Returns whether the parameter `parameter` belongs to the layer `layer`, or to a layer whose name
/// begins with `layer` and a dot, or is itself called `layer`.
bool belongs_to(std::string_view parameter, std::string_view layer);

}  // namespace penstock
