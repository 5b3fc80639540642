#include "actors/loader/load_failure.hpp"

#include <new>
#include <stdexcept>

#include "actors/system/errors.hpp"

namespace penstock::actors {

bool says_no_memory(const std::exception_ptr& exception) noexcept {
  try {
    std::rethrow_exception(exception);
  } catch (const Error& error) {
    return error.code() == Errc::out_of_memory;
  } catch (const std::bad_alloc&) {
    return true;
  } catch (...) {
    return false;
  }
}

std::string said_by(const std::exception_ptr& exception) {
  try {
    std::rethrow_exception(exception);
  } catch (const std::bad_alloc&) {
    return "not enough memory";
  } catch (...) {
    return text_of(exception);
  }
}

}  // namespace penstock::actors
