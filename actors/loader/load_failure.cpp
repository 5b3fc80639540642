#include "actors/loader/load_failure.hpp"

#include <new>

#include "actors/system/errors.hpp"
#include "graph/values/text.hpp"

namespace penstock::actors {

bool says_no_memory(const std::exception_ptr& exception) noexcept {
  return code_of(exception, Errc::internal) == Errc::out_of_memory;
}

std::string said_by(const std::exception_ptr& exception) {
  try {
    std::rethrow_exception(exception);
  } catch (const std::bad_alloc&) {
    return "not enough memory";
  } catch (...) {
    return printable(text_of(exception));
  }
}

}  // namespace penstock::actors
