#include "actors/system/actor_system.hpp"

#include <gtest/gtest.h>

#include <caf/event_based_actor.hpp>
#include <caf/scoped_actor.hpp>
#include <chrono>
#include <future>
#include <set>
#include <string>
#include <thread>

#include "actors/system/errors.hpp"
#include "actors/system/workers.hpp"
#include "tests/support/allocation_counter.hpp"
#include "tests/support/deterministic_run.hpp"
#include "tests/support/latch.hpp"
#include "tests/support/thread_count.hpp"

namespace penstock::actors {
namespace {

using namespace std::chrono_literals;
using testing::DeterministicRun;

/// Returns the behavior of an actor that answers an int with a hash of the thread on which the
/// actor runs. If the actor gets a text, it throws: a number if the text is "number", and an Error
/// with that text otherwise.
caf::behavior probe(caf::event_based_actor*, int) {
  return {[](int) { return std::hash<std::thread::id>()(std::this_thread::get_id()); },
          [](const std::string& text) {
            if (text == "number") throw 7;
            throw Error(Errc::stage_failed, text);
          }};
}

std::size_t thread_of(const caf::scoped_actor& asker, const caf::actor& probe) {
  std::size_t result = 0;
  asker->request(probe, caf::infinite, 1)
      .receive([&](std::size_t id) { result = id; }, [](const caf::error&) {});
  return result;
}

/// Sends `message` to an actor, and returns the reason of the actor's end as another actor that
/// monitors it learns it.
template <class Message>
Error reason_after(ActorSystem& system, const Message& message) {
  caf::scoped_actor watcher{system.caf()};
  auto actor = system.spawn(RunsOn::workers, probe, 0);
  watcher->monitor(actor);
  caf::anon_send(actor, message);
  Error reason(Errc::internal, "none");
  watcher->receive([&](const caf::down_msg& down) { reason = to_error(down.reason); });
  return reason;
}

TEST(ActorSystem, GivesAnActorAThreadOfItsOwnIfAsked) {
  ActorSystem system({.threads = 1});
  caf::scoped_actor asker{system.caf()};
  const auto scheduled = system.spawn(RunsOn::workers, probe, 0);
  const auto scheduled_too = system.spawn(RunsOn::workers, probe, 0);
  const auto detached = system.spawn(RunsOn::own_thread, probe, 0);
  EXPECT_EQ(thread_of(asker, scheduled), thread_of(asker, scheduled_too));
  EXPECT_NE(thread_of(asker, scheduled), thread_of(asker, detached));
}

/// Returns the behavior of an actor that passes each question on to `probe`, so that the question
/// is asked on the thread of this actor.
caf::behavior go_between(caf::event_based_actor* self, const caf::actor& probe) {
  return {[=](int question) { return self->delegate(probe, question); }};
}

TEST(ActorSystem, RunsEachActorOnItsOwnThreadsWhoeverSendsToIt) {
  ActorSystem system({.threads = 1});
  const HostThreadGuard guard;
  caf::scoped_actor asker{system.caf()};
  std::set<std::size_t> threads;
  for (const RunsOn where : {RunsOn::workers, RunsOn::own_thread}) {
    const auto asked = system.spawn(where, probe, 0);
    const std::size_t thread = thread_of(asker, asked);
    threads.insert(thread);
    for (const RunsOn sender : {RunsOn::workers, RunsOn::own_thread})
      EXPECT_EQ(thread_of(asker, system.spawn(sender, go_between, asked)), thread);
  }
  EXPECT_EQ(threads.size(), 2u);
}

/// Returns the behavior of an actor that opens `latch` when it gets an int.
caf::behavior opener(caf::event_based_actor*, testing::Latch latch) {
  return {[=](int) { latch.open(); }};
}

/// Returns the behavior of an actor that sends an int to `receiver`, and then waits for `latch`.
/// Its answer says whether the latch was opened.
caf::behavior long_worker(caf::event_based_actor* self, const caf::actor& receiver,
                          testing::Latch latch) {
  return {[=](int) {
    self->send(receiver, 1);
    let_others_work(self->context());
    return latch.wait();
  }};
}

TEST(ActorSystem, LetsAnotherThreadRunAnActorThatGotMailFromALongHandler) {
  ActorSystem system({.threads = 2});
  const HostThreadGuard guard;
  caf::scoped_actor asker{system.caf()};
  for (int round = 0; round < 100; ++round) {
    testing::Latch latch;
    const auto receiver = system.spawn(RunsOn::workers, opener, latch);
    const auto worker = system.spawn(RunsOn::workers, long_worker, receiver, latch);
    bool answer = false;
    asker->request(worker, caf::infinite, 1)
        .receive([&](bool opened) { answer = opened; },
                 [](const caf::error& error) { ADD_FAILURE() << to_error(error).what(); });
    ASSERT_TRUE(answer) << "nobody ran the receiver while the other handler went on";
  }
}

/// Returns the behavior of an actor that lets all `others` other workers fall asleep, passes the
/// question on to `probe`, and goes on for a while. It notes its thread in `thread`.
caf::behavior sole_worker(caf::event_based_actor* self, const caf::actor& probe, std::size_t others,
                          std::size_t* thread) {
  return {[=](int question) {
    const JobQueue& jobs = dynamic_cast<Workers&>(*self->context()).jobs();
    while (jobs.waiting() < others) std::this_thread::yield();
    std::this_thread::sleep_for(1ms);  // A worker that was woken for nothing waits again by then.
    *thread = std::hash<std::thread::id>()(std::this_thread::get_id());
    const auto answer = self->delegate(probe, question);
    std::this_thread::sleep_for(2ms);
    return answer;
  }};
}

TEST(ActorSystem, RunsTheOnlyActorThatGotMailOnTheThreadThatSentIt) {
  ActorSystem system({.threads = 3});
  const HostThreadGuard guard;
  caf::scoped_actor asker{system.caf()};
  const auto asked = system.spawn(RunsOn::workers, probe, 0);
  int same = 0;
  for (int round = 0; round < 20; ++round) {
    std::size_t sender = 0;
    const auto sending = system.spawn(RunsOn::workers, sole_worker, asked, std::size_t{2}, &sender);
    same += thread_of(asker, sending) == sender;
  }
  // A worker that was woken for nothing may now and then still be awake on a busy machine.
  EXPECT_GT(same, 10);
}

/// A Memory keeps what the system tells it about the beginnings and ends of actors.
struct Memory final : EndWatch {
  void actor_begins() noexcept override { ++begun; }
  void actor_ended(const std::string& name, bool told_to_end,
                   const caf::error& reason) noexcept override {
    ended.push_back(name + (told_to_end ? ": told" : std::string(": ") + to_error(reason).what()));
    all_ended.open();
  }
  int begun = 0;
  std::vector<std::string> ended;
  testing::Latch all_ended;
};

TEST(ActorSystem, TellsAWatchOfTheOneEndOfAnActorWhateverItsReason) {
  for (const bool deterministic : {true, false}) {
    const auto end_of = [&](auto end) {
      const auto memory = std::make_shared<Memory>();
      ActorSystem system({.threads = 1, .deterministic = deterministic});
      auto actor = system.spawn(RunsOn::workers, Watched{"probe", memory}, probe, 0);
      EXPECT_EQ(memory->begun, 1);
      end(actor);
      actor = nullptr;
      system.run_pending();
      EXPECT_TRUE(memory->all_ended.wait());
      EXPECT_EQ(memory->ended.size(), 1u);
      return memory->ended.at(0);
    };
    EXPECT_EQ(end_of([](const caf::actor& actor) { tell_to_end(actor); }), "probe: told");
    EXPECT_EQ(end_of([](const caf::actor& actor) {
                tell_to_end(actor);
                tell_to_end(actor);
              }),
              "probe: told");
    EXPECT_EQ(end_of([](const caf::actor& actor) { caf::anon_send(actor, std::string("broken")); }),
              "probe: broken");
    EXPECT_EQ(end_of([](const caf::actor& actor) {
                caf::anon_send_exit(actor, caf::exit_reason::user_shutdown);
              }),
              "probe: an actor has ended");
    EXPECT_EQ(end_of([](const caf::actor&) {}), "probe: an actor has ended") << "no handle is left";
  }
}

/// Returns the behavior of an actor that keeps a handle of another actor, as neighbouring stages
/// do.
caf::behavior neighbour(caf::event_based_actor*, int) {
  return {[held = std::make_shared<caf::actor>()](const caf::actor& other) { *held = other; }};
}

TEST(ActorSystem, EndsActorsThatHoldOnToEachOtherThoughNobodyTellsThemAndNoMemoryIsLeft) {
  const std::size_t threads = testing::thread_count();
  auto system = std::make_unique<ActorSystem>(SystemOptions{.threads = 2});
  for (int pair = 0; pair < 20; ++pair) {
    const auto one = system->spawn(RunsOn::workers, neighbour, 0);
    const auto other = system->spawn(pair % 4 ? RunsOn::workers : RunsOn::own_thread, neighbour, 0);
    caf::anon_send(one, other);
    caf::anon_send(other, one);
  }
  {
    const testing::AllocationFailures all(1, 1'000'000);
    system.reset();
  }
  EXPECT_TRUE(testing::threads_fall_to(threads));
}

TEST(ActorSystem, MayBeDestroyedOnAnotherThreadThanItWasUsedOn) {
  auto system = std::make_unique<ActorSystem>(SystemOptions{.threads = 1});
  {
    const HostThreadGuard guard;
    caf::scoped_actor asker{system->caf()};
    const auto detached = system->spawn(RunsOn::own_thread, probe, 0);
    EXPECT_NE(thread_of(asker, detached), 0u);
  }
  system->spawn(RunsOn::workers, probe, 0);
  auto ended = std::async(std::launch::async, [&] { system.reset(); });
  ASSERT_EQ(ended.wait_for(std::chrono::seconds(20)), std::future_status::ready);
}

TEST(ActorSystem, RunsEveryActorOnTheCallersThreadIfDeterministic) {
  ActorSystem system({.deterministic = true});
  std::set<std::thread::id> threads;
  for (const RunsOn where : {RunsOn::workers, RunsOn::own_thread}) {
    const auto actor = system.spawn(
        where,
        [&](caf::event_based_actor*, int) -> caf::behavior {
          return {[&](int) { threads.insert(std::this_thread::get_id()); }};
        },
        0);
    caf::anon_send(actor, 1);
  }
  DeterministicRun(system, 0).run();
  EXPECT_EQ(threads, std::set{std::this_thread::get_id()});
}

TEST(ActorSystem, KeepsTheTextOfAnExceptionThatEndsAnActorAndPrintsNothing) {
  ::testing::internal::CaptureStderr();
  {
    ActorSystem system({.threads = 1});
    const Error ours = reason_after(system, std::string("stage 1: broken"));
    EXPECT_EQ(ours.code(), Errc::stage_failed);
    EXPECT_STREQ(ours.what(), "stage 1: broken");
    EXPECT_EQ(reason_after(system, std::string("number")).code(), Errc::internal);
    const Error unexpected = reason_after(system, 1.5);
    EXPECT_EQ(unexpected.code(), Errc::internal);
    EXPECT_NE(std::string(unexpected.what()).find("no handler for message"), std::string::npos);
  }
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

struct Silent : std::exception {
  const char* what() const noexcept override { return nullptr; }
};

TEST(Errors, SayWhatAnExceptionSays) {
  const auto error_of = [](const auto& exception) {
    return to_error(to_caf(std::make_exception_ptr(exception)));
  };
  const Error silent = error_of(Silent());
  EXPECT_EQ(silent.code(), Errc::internal);
  EXPECT_STREQ(silent.what(), "an exception without a text");
  const Error memory = error_of(std::bad_alloc());
  EXPECT_EQ(memory.code(), Errc::out_of_memory);
  EXPECT_STREQ(memory.what(), "out of memory");
  EXPECT_STREQ(error_of(7).what(), "an exception that is no std::exception");
}

TEST(Errors, KeepTheirCodeAndTextOnTheWay) {
  for (const Errc code : {Errc::invalid_argument, Errc::stage_failed, Errc::internal}) {
    const Error error = to_error(to_caf(code, "text"));
    EXPECT_EQ(error.code(), code);
    EXPECT_STREQ(error.what(), "text");
  }
  EXPECT_EQ(to_error(caf::sec::request_receiver_down).code(), Errc::closed);
  EXPECT_EQ(to_error(caf::exit_reason::kill).code(), Errc::closed);
  EXPECT_EQ(to_error(caf::sec::unexpected_message).code(), Errc::internal);
}

/// Returns the order in which messages of three senders arrive, as text.
std::string arrivals(std::uint64_t seed) {
  ActorSystem system({.deterministic = true});
  std::string order;
  const auto sink = system.spawn(
      RunsOn::workers,
      [&](caf::event_based_actor*, int) -> caf::behavior {
        return {[&](char sender) { order += sender; }};
      },
      0);
  for (const char name : {'a', 'b', 'c'}) {
    const auto sender = system.spawn(
        RunsOn::workers,
        [sink](caf::event_based_actor* self, char me) -> caf::behavior {
          return {[self, sink, me](int) { self->send(sink, me); }};
        },
        name);
    for (int i = 0; i < 2; ++i) caf::anon_send(sender, i);
  }
  DeterministicRun(system, seed).run();
  return order;
}

TEST(DeterministicRun, DrawsEveryInterleavingFromTheSeedAndRepeatsIt) {
  std::set<std::string> orders;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    orders.insert(arrivals(seed));
    ASSERT_EQ(arrivals(seed), arrivals(seed));
  }
  EXPECT_EQ(orders.size(), 90u);  // Six messages of three senders have 6! / (2! 2! 2!) orders.
}

TEST(DeterministicRun, MovesTheClockOnlyWhenTold) {
  ActorSystem system({.deterministic = true});
  int calls = 0;
  const auto sleeper = system.spawn(
      RunsOn::workers,
      [&](caf::event_based_actor* self, int) -> caf::behavior {
        self->delayed_send(self, std::chrono::hours(1), 1);
        return {[&](int) { ++calls; }};
      },
      0);
  DeterministicRun run(system, 0);
  run.run();
  EXPECT_EQ(calls, 0);
  run.advance(std::chrono::hours(1));
  EXPECT_TRUE(run.run_until([&] { return calls == 1; }));
}

TEST(DeterministicRun, GivesUpOnActorsThatKeepEachOtherBusy) {
  ActorSystem system({.deterministic = true});
  const auto busy = system.spawn(
      RunsOn::workers,
      [](caf::event_based_actor* self, int) -> caf::behavior {
        return {[self](int n) { self->send(self, n + 1); }};
      },
      0);
  caf::anon_send(busy, 0);
  DeterministicRun run(system, 0);
  EXPECT_THROW(run.run(1000), std::runtime_error);
  caf::anon_send_exit(busy, caf::exit_reason::kill);
  run.run();
}

}  // namespace
}  // namespace penstock::actors
