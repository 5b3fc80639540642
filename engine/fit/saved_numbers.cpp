#include "engine/fit/saved_numbers.hpp"

#include <bit>
#include <utility>

#include "graph/values/text.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

[[noreturn]] void refuse_numbers(const std::string& name, const std::string& expected,
                                 const std::string& got) {
  throw Error(Errc::invalid_data, "a saved state: tensor " + quoted_text(name) + ": expected " +
                                      expected + ", got " + got);
}

}  // namespace

std::int64_t bits_of(double number) noexcept {
  return std::bit_cast<std::int64_t>(number);
}

double number_of(std::int64_t bits) noexcept {
  return std::bit_cast<double>(bits);
}

Tensor tensor_of(std::span<const std::int64_t> numbers) {
  return {Shape{std::ssize(numbers)}, numbers};
}

Tensor tensor_of_bits(std::span<const double> numbers) {
  std::vector<std::int64_t> bits;
  for (const double number : numbers) bits.push_back(bits_of(number));
  return tensor_of(bits);
}

std::span<const std::int64_t> whole_numbers(const SavedState& state, const std::string& name) {
  const Tensor& tensor = state.tensor(name);
  if (tensor.dtype() != DType::i64)
    refuse_numbers(name, "i64", std::string(to_string(tensor.dtype())));
  return tensor.as<std::int64_t>();
}

std::span<const std::int64_t> whole_numbers(const SavedState& state, const std::string& name,
                                            std::size_t count) {
  const auto numbers = whole_numbers(state, name);
  if (numbers.size() != count)
    refuse_numbers(name, std::to_string(count) + " numbers", std::to_string(numbers.size()));
  return numbers;
}

SavedState saved(const Score& score) {
  const std::int64_t numbers[] = {bits_of(score.sum), score.count};
  return {.tensors = {{"score", tensor_of(numbers)}}};
}

Score score_in(const SavedState& state) {
  const auto numbers = whole_numbers(state, "score", 2);
  if (numbers[1] < 0 || numbers[1] > most_counted)
    refuse_numbers("score", "a count from 0 to " + std::to_string(most_counted),
                   std::to_string(numbers[1]));
  return {number_of(numbers[0]), numbers[1]};
}

void add_part(SavedState& state, const std::string& prefix, SavedState part) {
  for (auto& [name, text] : part.texts) state.texts[prefix + name] = std::move(text);
  for (auto& [name, tensor] : part.tensors)
    state.tensors.push_back({prefix + name, std::move(tensor)});
}

SavedState part_of(const SavedState& state, const std::string& prefix) {
  SavedState part;
  for (const auto& [name, text] : state.texts)
    if (name.starts_with(prefix)) part.texts[name.substr(prefix.size())] = text;
  for (const auto& [name, tensor] : state.tensors)
    if (name.starts_with(prefix)) part.tensors.push_back({name.substr(prefix.size()), tensor});
  return part;
}

}  // namespace penstock
