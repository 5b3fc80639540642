#include "tests/support/data_path.hpp"

namespace penstock::testing {

std::filesystem::path data_path(std::string_view relative) {
  return std::filesystem::path(PENSTOCK_TEST_DATA) / relative;
}

}  // namespace penstock::testing
