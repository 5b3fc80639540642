// A SavedState is what a part of a training, such as a callback or a metric, needs to go on after
// it was interrupted. It is plain data.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "penstock/named_tensor.hpp"

namespace penstock {

/// A SavedState holds texts and tensors under names that the saved part has chosen.
struct SavedState {
  /// `texts` has texts in UTF-8 by their names. All texts of a checkpoint together have less than
  /// 100 MB; a tensor of type u8 holds longer ones.
  std::map<std::string, std::string> texts = {};
  std::vector<NamedTensor> tensors = {};  ///< `tensors` has tensors, each with a name of its own.

  /// Returns the text called `name`. @throws Error invalid_data if there is no such text.
  const std::string& text(const std::string& name) const;
  /// Returns the tensor called `name`. @throws Error invalid_data if there is no such tensor.
  const Tensor& tensor(const std::string& name) const;
};

}  // namespace penstock
