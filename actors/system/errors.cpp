#include "actors/system/errors.hpp"

#include <caf/atom.hpp>
#include <caf/exit_reason.hpp>
#include <caf/message.hpp>
#include <caf/sec.hpp>
#include <new>

namespace penstock::actors {
namespace {

constexpr caf::atom_value category = caf::atom("penstock");

std::string context_of(const caf::error& error) {
  const caf::message& context = error.context();
  return context.match_elements<std::string>() ? context.get_as<std::string>(0) : std::string();
}

Error foreign(const caf::error& error) {
  const std::string context = context_of(error);
  if (error == caf::sec::request_receiver_down || error.category() == caf::atom("exit"))
    return {Errc::closed, "an actor has ended" + (context.empty() ? "" : ": " + context)};
  if (error.category() == caf::atom("system"))
    return {Errc::internal, caf::to_string(static_cast<caf::sec>(error.code())) +
                                (context.empty() ? "" : ": " + context)};
  return {Errc::internal, context.empty() ? "unknown error" : context};
}

}  // namespace

caf::error to_caf(Errc code, const std::string& text) {
  // CAF reads code 0 as "no error".
  return {static_cast<std::uint8_t>(static_cast<std::uint8_t>(code) + 1), category,
          caf::make_message(text)};
}

caf::error to_caf(const std::exception_ptr& exception, Errc otherwise) {
  return to_caf(code_of(exception, otherwise), text_of(exception));
}

// A thread that is cancelled unwinds its stack without an exception that could be read.
Errc code_of(const std::exception_ptr& exception, Errc otherwise) noexcept {
  if (!exception) return otherwise;
  try {
    std::rethrow_exception(exception);
  } catch (const Error& error) {
    return error.code();
  } catch (const std::bad_alloc&) {
    return Errc::out_of_memory;
  } catch (...) {
    return otherwise;
  }
}

std::string text_of(const std::exception_ptr& exception) {
  if (!exception) return "the thread was cancelled";
  try {
    std::rethrow_exception(exception);
  } catch (const std::bad_alloc&) {
    return "out of memory";
  } catch (const std::exception& error) {
    return error.what() ? error.what() : "an exception without a text";
  } catch (...) {
    return "an exception that is no std::exception";
  }
}

Error to_error(const caf::error& error) {
  if (!error) return {Errc::closed, "an actor has ended"};
  if (error.category() == category) return {static_cast<Errc>(error.code() - 1), context_of(error)};
  return foreign(error);
}

}  // namespace penstock::actors
