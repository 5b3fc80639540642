// An NpyHeader is the header of a file of numpy.save(): a Python dictionary of three entries, as
// text. All functions are pure. The text may be damaged or hostile.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace penstock {

struct NpyHeader {
  std::string type = {};  ///< `type` is NumPy's name of the elements' type, such as "<f4".
  /// `fortran_order` says whether the first dimension changes fastest from element to element.
  bool fortran_order = false;
  std::vector<std::int64_t> dims = {};  ///< `dims` are the dimensions, none of which is negative.
};

/// Returns the header that `text` has. @throws Error corrupt_file, which says what was expected
/// where; unsupported if the elements are records of several fields.
NpyHeader parse_npy_header(std::string_view text);

/// Returns the header as text.
std::string to_text(const NpyHeader& header);

}  // namespace penstock
