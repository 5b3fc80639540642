// refusal() returns the text of the error that an action must throw.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "penstock/error.hpp"

namespace penstock::testing {

/// Returns the text of the Error that `action` throws, or "accepted" if `action` throws no Error.
/// Expects that the Error has the code `code`.
template <class Action>
[[nodiscard]] std::string refusal(Errc code, Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(to_string(error.code()), to_string(code)) << error.what();
    return error.what();
  }
  return "accepted";
}

}  // namespace penstock::testing
