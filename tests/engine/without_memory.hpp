// Calls whose allocations fail, one after the other: what the host is told must be an Error.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "penstock/error.hpp"
#include "tests/support/allocation_counter.hpp"

namespace penstock::testing {

/// What a call has come to. It allocates nothing, for that might fail.
struct CallOutcome {
  std::optional<Errc> refusal = {};
  bool raw_exception = false;
  bool reached = false;  ///< the call has made the allocation that was to fail
};

/// Makes `call` while its allocation number `number` on this thread fails.
inline CallOutcome call_without_memory(std::int64_t number, const std::function<void()>& call) {
  CallOutcome outcome;
  const AllocationFailures failures(number, 1, FailsOn::this_thread);
  try {
    call();
  } catch (const Error& error) {
    outcome.refusal = error.code();
  } catch (...) {
    outcome.raw_exception = true;
  }
  outcome.reached = failures.reached();
  return outcome;
}

/// Makes `call` with each of its allocations failing. Whatever it throws must be an Error, and at
/// least one must say that there is no memory.
inline void expect_no_raw_exception(const std::string& name, const std::function<void()>& call) {
  SCOPED_TRACE(name);
  std::int64_t without_memory = 0;
  for (std::int64_t number = 1;; ++number) {
    const CallOutcome outcome = call_without_memory(number, call);
    ASSERT_FALSE(outcome.raw_exception) << "allocation " << number;
    without_memory += outcome.refusal == Errc::out_of_memory ? 1 : 0;
    if (!outcome.reached) break;
    ASSERT_LT(number, 20000);
  }
  EXPECT_GE(without_memory, 1);
}

}  // namespace penstock::testing
