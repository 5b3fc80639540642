// ChoiceMasks keep what an import finds out about masks that choose between the scores of an
// attention and a number far below them, so that a mask that all layers share is read once.
#pragma once

#include <cstddef>
#include <map>
#include <tuple>
#include <vector>

#include "engine/onnx/import/computed_count.hpp"
#include "engine/onnx/shapes/reshaped_dims.hpp"
#include "penstock/tensor.hpp"

namespace penstock {

/// A ChoiceMask is a known mask whose true elements hide keys, or else show them.
struct ChoiceMask {
  Tensor elements;
  bool hides_true = false;
};

/// One thread uses ChoiceMasks.
class ChoiceMasks {
 public:
  /// Returns whether each row of the mask, if it has any, shows a key. A mask is read, and counted,
  /// the first time. @throws TooMuchComputed.
  bool show_a_key_in_each_row(const ChoiceMask& mask, ComputedCount& count);
  /// Returns what is added to scores in place of a choice, as f32: 0 where these stay, and `number`
  /// where they are hidden. It is made, and counted, the first time. @throws TooMuchComputed.
  const Tensor& added(const ChoiceMask& mask, double number, ComputedCount& count);

 private:
  using Key = std::tuple<const std::byte*, Dims, bool>;

  Key key_of(const ChoiceMask& mask);

  std::map<Key, bool> show_keys_;
  std::map<std::pair<Key, double>, Tensor> added_;
  // These masks are kept, so that no other elements are where theirs are.
  std::map<const std::byte*, Tensor> kept_;
};

}  // namespace penstock
