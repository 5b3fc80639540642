#include "engine/values/out_of_memory.hpp"

#include <string>

#include "penstock/error.hpp"

namespace penstock {
namespace {

/// Copying it allocates no text: copies of a standard exception share that.
const Error made_beforehand(Errc::out_of_memory, "not enough memory");

}  // namespace

void throw_out_of_memory(std::string_view who) {
  try {
    throw Error(Errc::out_of_memory, std::string(who) + ": not enough memory");
  } catch (const std::bad_alloc&) {
    throw Error(made_beforehand);
  }
}

}  // namespace penstock
