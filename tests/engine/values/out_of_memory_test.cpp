#include "engine/values/out_of_memory.hpp"

#include <gtest/gtest.h>

#include <string>

#include "penstock/error.hpp"

namespace penstock {
namespace {

template <class Action>
std::string refusal(const Action& action) {
  try {
    or_out_of_memory("reading", action);
  } catch (const Error& error) {
    return std::string(to_string(error.code())) + ": " + error.what();
  }
  return "accepted";
}

TEST(OutOfMemory, IsAnErrorThatSaysWhoHadNoMemory) {
  EXPECT_EQ(refusal([] { throw std::bad_alloc(); }), "out_of_memory: reading: not enough memory");
  const std::string endless_is_too_long = refusal([] {
    std::string text;
    text.reserve(text.max_size() + 1);
  });
  EXPECT_EQ(endless_is_too_long, "out_of_memory: reading: not enough memory");
}

TEST(OutOfMemory, LeavesResultsAndOtherExceptionsAlone) {
  EXPECT_EQ(or_out_of_memory("reading", [] { return 7; }), 7);
  EXPECT_EQ(refusal([] { throw Error(Errc::io_error, "no"); }), "io_error: no");
  EXPECT_THROW(or_out_of_memory("reading", [] { throw std::logic_error("no"); }), std::logic_error);
}

}  // namespace
}  // namespace penstock
