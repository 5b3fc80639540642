// These tests check that a thread of the engine can throw without memory, even if the host has
// loaded many libraries with thread-local variables since the thread began. After the libraries
// have been loaded, while there is still memory, the thread begins new work and thus prepares
// itself. A thread that has not prepared itself would end the process. The tests are a program of
// their own, because libraries stay loaded and memory stays gone.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/resumable.hpp>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "actors/execution/thread_team.hpp"
#include "actors/system/thread_entry.hpp"
#include "actors/system/workers.hpp"
#include "tests/support/forked.hpp"
#include "tests/support/without_memory_left.hpp"

namespace penstock::actors {
namespace {

using testing::exit_code_of_fork;
using testing::Outcome;

/// Loads another copy of the library at `path`. The loader takes the copy for another library.
bool load_copy(const char* path) {
  static char content[1 << 20];
  std::FILE* const library = std::fopen(path, "rb");
  if (!library) return false;
  const std::size_t bytes = std::fread(content, 1, sizeof(content), library);
  std::fclose(library);
  const int copy = memfd_create("copy", 0);
  if (copy < 0 || write(copy, content, bytes) != static_cast<ssize_t>(bytes)) return false;
  return dlopen(("/proc/self/fd/" + std::to_string(copy)).c_str(), RTLD_NOW | RTLD_LOCAL);
}

bool load_copies() {
  const char* const path = std::getenv("PENSTOCK_TEST_LIBRARY");
  for (int copies = 0; copies < 40; ++copies)
    if (!path || !load_copy(path)) return false;
  return true;
}

Outcome outcome_of_a_throw_without_memory() {
  if (!testing::take_all_memory()) return testing::memory_is_left;
  try {
    throw 1;
  } catch (int) {
    return testing::worked;
  }
}

TEST(CrowdedThreads, ThrowWhenTheyHaveEnteredCafAgain) {
  EXPECT_EQ(exit_code_of_fork([] {
              enter_caf();
              if (!load_copies()) return testing::went_wrong;
              enter_caf();
              return outcome_of_a_throw_without_memory();
            }),
            testing::worked);
}

TEST(CrowdedThreads, ThrowInTheirNextPartOfATeamsWork) {
  EXPECT_EQ(exit_code_of_fork([] {
              ThreadTeam team("team", 2);
              std::atomic<int> begun = 0;
              const auto wait_for_both = [&](int number) {
                for (++begun; begun < number;) std::this_thread::yield();
              };
              team.run(2, [&](std::int32_t) { wait_for_both(2); });
              if (!load_copies()) return testing::went_wrong;
              const std::thread::id caller = std::this_thread::get_id();
              Outcome outcome = testing::went_wrong;
              team.run(2, [&](std::int32_t) {
                wait_for_both(4);
                if (std::this_thread::get_id() != caller)
                  outcome = outcome_of_a_throw_without_memory();
              });
              return outcome;
            }),
            testing::worked);
}

/// A ThrowingJob is a job that can be queued like an actor, but does not use the variables that CAF
/// keeps for each thread.
class ThrowingJob : public caf::resumable {
 public:
  subtype_t subtype() const override { return function_object; }
  resume_result resume(caf::execution_unit*, std::size_t) override {
    outcome_ = outcome_of_a_throw_without_memory();
    outcome_.notify_one();
    return done;
  }
  void intrusive_ptr_add_ref_impl() override {}
  void intrusive_ptr_release_impl() override {}

  Outcome wait_for_outcome() {
    outcome_.wait(testing::went_wrong);
    return outcome_;
  }

 private:
  std::atomic<Outcome> outcome_ = testing::went_wrong;
};

/// CAF starts no threads for a system of this configuration. Its own threads would end the process
/// if they needed memory once there is none.
struct Threadless : caf::actor_system_config {
  Threadless() { set("scheduler.policy", caf::atom("testing")); }
};

TEST(CrowdedThreads, ThrowInTheirNextJob) {
  EXPECT_EQ(exit_code_of_fork([] {
              // The system, the workers and the job are never destroyed, because there is no memory
              // for that.
              auto* const system = new caf::actor_system(*new Threadless());
              auto* const workers = new Workers(*system, 10);
              auto* const job = new ThrowingJob();
              workers->jobs().add_seat();
              workers->start("worker", 1);
              if (!load_copies()) return testing::went_wrong;
              workers->exec_later(job);
              return job->wait_for_outcome();
            }),
            testing::worked);
}

}  // namespace
}  // namespace penstock::actors
