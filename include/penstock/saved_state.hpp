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
  std::map<std::string, std::string> texts = {};  ///< `texts` has texts in UTF-8 by their names.
  std::vector<NamedTensor> tensors = {};  ///< `tensors` has tensors, each with a name of its own.

  /// Returns the text called `name`. @throws Error invalid_data if there is no such text.
  const std::string& text(const std::string& name) const;
  /// Returns the tensor called `name`. @throws Error invalid_data if there is no such tensor.
  const Tensor& tensor(const std::string& name) const;
};

}  // namespace penstock
