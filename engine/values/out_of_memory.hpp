// How a lack of memory reaches the caller: as Error out_of_memory, even where there is no memory
// left for its text.
#pragma once

#include <new>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace penstock {

/// Throws Error out_of_memory, whose text opens with `who`; with a shorter text that was made
/// beforehand if there is no memory for this one.
[[noreturn]] void throw_out_of_memory(std::string_view who);

/// What `action` returns. If it throws std::bad_alloc, or asks for a string or vector longer than
/// there can be, that becomes Error out_of_memory, whose text opens with `who`.
template <class Action>
decltype(auto) or_out_of_memory(std::string_view who, Action&& action) {
  try {
    return std::forward<Action>(action)();
  } catch (const std::bad_alloc&) {
    throw_out_of_memory(who);
  } catch (const std::length_error&) {
    throw_out_of_memory(who);
  }
}

}  // namespace penstock
