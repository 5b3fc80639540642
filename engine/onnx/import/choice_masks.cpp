#include "engine/onnx/import/choice_masks.hpp"

#include <utility>

#include "engine/onnx/folding/elements.hpp"

namespace penstock {
namespace {

bool shows_a_key_in_each_row(const ChoiceMask& mask) {
  const ElementReader<double> elements(mask.elements);
  const Dims dims = dims_of(mask.elements.shape());
  const std::int64_t length = dims.empty() ? 1 : dims.back(), count = mask.elements.elements();
  bool is_shown = false;
  for (std::int64_t i = 0; i < count; ++i) {
    if (i % length == 0 && i > 0 && !std::exchange(is_shown, false)) return false;
    is_shown = is_shown || (elements[static_cast<std::size_t>(i)] != 0) != mask.hides_true;
  }
  return is_shown || count == 0;
}

}  // namespace

ChoiceMasks::Key ChoiceMasks::key_of(const ChoiceMask& mask) {
  const Tensor& elements = mask.elements;
  kept_.try_emplace(elements.raw(), elements);
  return {elements.raw(), dims_of(elements.shape()), mask.hides_true};
}

bool ChoiceMasks::show_a_key_in_each_row(const ChoiceMask& mask, ComputedCount& count) {
  const Key key = key_of(mask);
  const auto found = show_keys_.find(key);
  if (found != show_keys_.end()) return found->second;
  count.add_elements(static_cast<std::uint64_t>(mask.elements.elements()));
  return show_keys_[key] = shows_a_key_in_each_row(mask);
}

const Tensor& ChoiceMasks::added(const ChoiceMask& mask, double number, ComputedCount& count) {
  const std::pair key(key_of(mask), number);
  const auto found = added_.find(key);
  if (found != added_.end()) return found->second;
  const Tensor& choices = mask.elements;
  count.add_elements(2 * static_cast<std::uint64_t>(choices.elements()));
  count.add_bytes(sizeof(float) * static_cast<std::uint64_t>(choices.elements()));
  const ElementReader<double> elements(choices);
  std::size_t place = 0;
  const auto added_number = [&](const Dims&) {
    return (elements[place++] != 0) == mask.hides_true ? number : 0.0;
  };
  return added_[key] = filled(DType::f32, choices.shape(), added_number);
}

}  // namespace penstock
