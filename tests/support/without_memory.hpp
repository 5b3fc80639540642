// These functions make a call again and again, and each time another allocation fails. If such a
// call throws, the exception must be an Error.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "penstock/error.hpp"
#include "tests/support/allocation_counter.hpp"

namespace penstock::testing {

/// A CallOutcome says how a call has ended. Making a CallOutcome allocates nothing, because an
/// allocation might fail.
struct CallOutcome {
  std::optional<Errc> refusal = {};
  bool raw_exception = false;
  bool reached = false;  ///< If this is true, the call has made the allocation that was to fail.
};

/// Makes `call` while its allocation number `number` on this thread fails. No allocation fails if
/// `number` is 0.
inline CallOutcome call_without_memory(std::int64_t number, const std::function<void()>& call) {
  CallOutcome outcome;
  const AllocationFailures failures(number, number == 0 ? 0 : 1, FailsOn::this_thread);
  try {
    call();
  } catch (const Error& error) {
    outcome.refusal = error.code();
  } catch (...) {
    outcome.raw_exception = true;
  }
  outcome.reached = number > 0 && failures.reached();
  return outcome;
}

/// An Attempt makes a call while the call's allocation number `number` fails. No allocation fails
/// if `number` is 0.
using Attempt = std::function<CallOutcome(std::int64_t number)>;

/// Makes `attempt` once with all its memory, and then again and again, each time with the next
/// allocation failing. Each of the latter calls must throw out_of_memory, or end like the call that
/// had all its memory. At least one of them must throw out_of_memory.
inline void expect_only_lack_of_memory(const Attempt& attempt) {
  const CallOutcome with_memory = attempt(0);
  ASSERT_FALSE(with_memory.raw_exception) << "with memory";
  std::int64_t without_memory = 0;
  for (std::int64_t number = 1;; ++number) {
    const CallOutcome outcome = attempt(number);
    ASSERT_FALSE(outcome.raw_exception) << "allocation " << number;
    if (outcome.refusal == Errc::out_of_memory)
      ++without_memory;
    else
      ASSERT_TRUE(outcome.refusal == with_memory.refusal)
          << "allocation " << number << ": "
          << (outcome.refusal ? to_string(*outcome.refusal) : "accepted");
    if (!outcome.reached) break;
    ASSERT_LT(number, 100000);
  }
  EXPECT_GE(without_memory, 1);
}

/// Checks `call`, which may be made again and again, as expect_only_lack_of_memory() does.
inline void expect_no_raw_exception(const std::string& name, const std::function<void()>& call) {
  SCOPED_TRACE(name);
  expect_only_lack_of_memory(
      [&](std::int64_t number) { return call_without_memory(number, call); });
}

}  // namespace penstock::testing
