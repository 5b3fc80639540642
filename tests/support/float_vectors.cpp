#include "tests/support/float_vectors.hpp"

#include <cstring>
#include <random>

namespace penstock::testing {

std::vector<float> whole_numbers(std::int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) value = static_cast<float>(static_cast<int>(random() % 9) - 4);
  return values;
}

std::vector<float> poisoned(std::int64_t count, unsigned char poison) {
  std::vector<float> values(static_cast<std::size_t>(count));
  if (!values.empty()) std::memset(values.data(), poison, values.size() * sizeof(float));
  return values;
}

}  // namespace penstock::testing
