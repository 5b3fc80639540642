#include "penstock/error.hpp"

namespace penstock {

std::string_view to_string(Errc code) noexcept {
  switch (code) {
    case Errc::invalid_argument:
      return "invalid_argument";
    case Errc::invalid_model:
      return "invalid_model";
    case Errc::invalid_topology:
      return "invalid_topology";
    case Errc::shape_mismatch:
      return "shape_mismatch";
    case Errc::invalid_data:
      return "invalid_data";
    case Errc::corrupt_file:
      return "corrupt_file";
    case Errc::io_error:
      return "io_error";
    case Errc::stage_failed:
      return "stage_failed";
    case Errc::stalled:
      return "stalled";
    case Errc::closed:
      return "closed";
    case Errc::busy:
      return "busy";
    case Errc::cancelled:
      return "cancelled";
    case Errc::out_of_memory:
      return "out_of_memory";
    case Errc::unsupported:
      return "unsupported";
    case Errc::internal:
      return "internal";
  }
  return "unknown";
}

}  // namespace penstock
