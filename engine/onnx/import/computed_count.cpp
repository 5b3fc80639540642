#include "engine/onnx/import/computed_count.hpp"

#include <algorithm>
#include <string>

namespace penstock {
namespace {

/// Adds `more` to `sum`, which stays where it is once it is above `most`.
void add(std::uint64_t& sum, std::uint64_t more, std::uint64_t most) {
  if (sum <= most) sum += std::min(more, most + 1);
}

/// Throws the error of a limit. `limit` says what is above it, and `reason` why it helps to let the
/// exporter compute constants.
[[noreturn]] void refuse(const std::string& limit, const std::string& reason) {
  throw TooMuchComputed(Errc::unsupported,
                        "what is computed at import " + limit +
                            " from this node on; choose smaller sizes, or let the exporter compute "
                            "the constants (do_constant_folding=True), because " +
                            reason);
}

}  // namespace

void ComputedCount::add_bytes(std::uint64_t bytes) {
  add(bytes_, bytes, most_computed_bytes);
  check();
}

void ComputedCount::add_list(std::uint64_t count) {
  constexpr std::uint64_t copies = 4;
  add_bytes(copies * sizeof(std::int64_t) * count);
}

void ComputedCount::add_elements(std::uint64_t count) {
  expect_elements(count);
  check();
}

void ComputedCount::expect_elements(std::uint64_t count) {
  add(elements_, count, most_computed_elements);
}

void ComputedCount::check() const {
  if (bytes_ > most_computed_bytes)
    refuse("takes more than " + std::to_string(most_computed_bytes) + " bytes",
           "what the file has does not count");
  if (elements_ > most_computed_elements)
    refuse("reads and makes more than " + std::to_string(most_computed_elements) + " elements",
           "constants that the file has need not be computed");
}

}  // namespace penstock
