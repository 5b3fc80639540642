#include "apps/trainer/accuracy.hpp"

#include <algorithm>

namespace trainer {

std::int64_t count_correct(const penstock::Tensor& scores, const penstock::Tensor& labels) {
  const auto score = scores.as<float>();
  const std::size_t classes = static_cast<std::size_t>(scores.shape()[-1]);
  std::int64_t correct = 0;
  std::size_t row = 0;
  for (const std::int64_t label : labels.as<std::int64_t>()) {
    const auto begin = score.begin() + static_cast<std::ptrdiff_t>(classes * row++);
    const auto end = begin + static_cast<std::ptrdiff_t>(classes);
    correct += std::max_element(begin, end) - begin == label;
  }
  return correct;
}

}  // namespace trainer
