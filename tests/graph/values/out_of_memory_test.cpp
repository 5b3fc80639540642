#include "graph/values/out_of_memory.hpp"

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

struct HostsOwn : std::length_error {
  using std::length_error::length_error;
};

[[noreturn]] void throw_as_host() {
  call_host([] { throw HostsOwn("mine"); });
  throw std::logic_error("the host has returned");
}

TEST(OutOfMemory, IsNoneOfTheHostsExceptions) {
  EXPECT_THROW(or_out_of_memory("reading", throw_as_host), HostsOwn);
  const auto nested = [] { or_out_of_memory("inside", throw_as_host); };
  EXPECT_THROW(or_out_of_memory("reading", nested), HostsOwn);
  EXPECT_EQ(call_host([] { return 7; }), 7);
}

TEST(OutOfMemory, IsTheEnginesOwnAgainAfterAnExceptionOfTheHosts) {
  for (int times = 0; times < 3; ++times) {
    EXPECT_THROW(or_out_of_memory("reading", throw_as_host), HostsOwn);
    EXPECT_EQ(refusal([] { throw std::length_error("a string"); }),
              "out_of_memory: reading: not enough memory");
  }
}

TEST(OutOfMemory, IsTheEnginesOwnAfterTheHostsExceptionWasCaughtInsideTheCall) {
  const std::string after_a_caught_one = refusal([] {
    try {
      call_host([] { throw std::length_error("mine"); });
    } catch (const std::length_error&) {
    }
    std::string text;
    text.reserve(text.max_size() + 1);
  });
  EXPECT_EQ(after_a_caught_one, "out_of_memory: reading: not enough memory");
}

TEST(OutOfMemory, IsNoneOfTheHostsExceptionsThoughAnotherWasCaughtMeanwhile) {
  const auto throw_two = [] {
    try {
      throw_as_host();
    } catch (const HostsOwn&) {
      EXPECT_THROW(call_host([] { throw std::length_error("second"); }), std::length_error);
      throw;
    }
  };
  EXPECT_THROW(or_out_of_memory("reading", throw_two), HostsOwn);
}

/// A UsesTheEngine is an exception of the host's. Its destructor uses the engine, which notes
/// another exception then.
struct UsesTheEngine : std::length_error {
  explicit UsesTheEngine(int& living) : std::length_error("mine"), living(living) { ++living; }
  UsesTheEngine(const UsesTheEngine&) = delete;
  ~UsesTheEngine() override {
    EXPECT_THROW(or_out_of_memory("destroying", throw_as_host), HostsOwn);
    --living;
  }
  int& living;
};

void throw_and_catch(int& living) {
  EXPECT_THROW(call_host([&] { throw UsesTheEngine(living); }), UsesTheEngine);
}

TEST(OutOfMemory, KeepsAndEndsTheHostsExceptionsThoughTheirDestructorsUseTheEngine) {
  int living = 0, newest = 0;
  or_out_of_memory("reading", [&] {
    for (int noted = 0; noted < 3; ++noted) throw_and_catch(living);
  });
  EXPECT_EQ(living, 0) << "of those that were noted as the call ended";

  or_out_of_memory("reading", [&] {
    throw_and_catch(living);
    for (int others = 0; others < 7; ++others)
      EXPECT_THROW(call_host([] { throw HostsOwn("mine"); }), HostsOwn);
    EXPECT_EQ(living, 1);
    throw_and_catch(newest);  // The newest exception takes the place of the first one.
    EXPECT_EQ(living, 0);
    EXPECT_EQ(newest, 1) << "the newest one has to stay, lest its address be another one's";
  });
  EXPECT_EQ(newest, 0);
}

}  // namespace
}  // namespace penstock
