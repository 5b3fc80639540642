// A ComputedCount bounds the memory and the work of what is computed while an ONNX file is
// imported, so that a small file cannot ask for any amount of either. Memory that the file's own
// elements take does not count.
#pragma once

#include <cstdint>

#include "penstock/error.hpp"

namespace penstock {

/// What is computed at import takes at most this many bytes of memory in all.
inline constexpr std::uint64_t most_computed_bytes = std::uint64_t{1} << 28;
/// At most this many elements are read and made to compute it.
inline constexpr std::uint64_t most_computed_elements = std::uint64_t{1} << 28;

/// A TooMuchComputed is the error of a ComputedCount, which says what is too much and what to do
/// about it.
class TooMuchComputed : public Error {
 public:
  using Error::Error;
};

/// One thread uses a ComputedCount. Once too much has been counted, each of its functions but
/// expect_elements() throws TooMuchComputed with the code unsupported.
class ComputedCount {
 public:
  /// Counts memory.
  void add_bytes(std::uint64_t bytes);
  /// Counts a list of `count` integers that becomes an attribute of a node, of which copies are
  /// made.
  void add_list(std::uint64_t count);
  /// Counts elements that are read or made.
  void add_elements(std::uint64_t count);
  /// Counts elements that are read unless it turns out that they need not be. Whoever calls this
  /// takes an earlier ComputedCount again in that case, and calls check() otherwise.
  void expect_elements(std::uint64_t count);
  /// Counts nothing, and throws if too much has been counted before.
  void check() const;

 private:
  std::uint64_t bytes_ = 0, elements_ = 0;
};

}  // namespace penstock
