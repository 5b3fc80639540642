// These tests check the texts of what actors wait for, and whether the waits form a cycle.

#include "actors/host/wait.hpp"

#include <gtest/gtest.h>

namespace penstock::actors {
namespace {

using Ways = std::vector<std::vector<std::string>>;

std::vector<std::string> names(const std::vector<Wait>& waits) {
  std::vector<std::string> found;
  for (const std::size_t position : cycle_of(waits)) found.push_back(waits[position].actor);
  return found;
}

Wait wait_of(const std::string& actor, Ways ways) {
  return {.actor = actor, .text = "waits", .ways = std::move(ways)};
}

TEST(WaitCycle, IsFoundAmongThoseThatLeadToItAndThoseBeside) {
  EXPECT_EQ(names({wait_of("a", {{"b"}}), wait_of("b", {{"c"}}), wait_of("c", {{"d"}}),
                   wait_of("d", {{"b"}}), wait_of("e", {{"host"}})}),
            (std::vector<std::string>{"b", "c", "d"}));
  EXPECT_EQ(names({wait_of("a", {{"a"}})}), std::vector<std::string>{"a"});
}

TEST(WaitCycle, IsNoneWhereSomebodyOutsideCanEndAWait) {
  EXPECT_EQ(names({}), std::vector<std::string>());
  EXPECT_EQ(names({wait_of("a", {{"b"}}), wait_of("b", {{"IPU 0"}})}), std::vector<std::string>());
  EXPECT_EQ(names({wait_of("a", {{"b"}}), wait_of("b", {})}), std::vector<std::string>());
  EXPECT_EQ(names({wait_of("a", {{"b"}}), wait_of("b", {{"a"}, {"feed"}})}),
            std::vector<std::string>())
      << "one of the ways suffices";
}

TEST(WaitCycle, IsOneWhereEachWayNeedsSomebodyWhoIsStuck) {
  EXPECT_EQ(names({wait_of("a", {{"b"}}), wait_of("b", {{"feed", "a"}})}),
            (std::vector<std::string>{"a", "b"}))
      << "the feed alone does not suffice";
  EXPECT_EQ(names({wait_of("a", {{"b"}, {"c"}}), wait_of("b", {{"a"}}), wait_of("c", {{"b"}})}),
            (std::vector<std::string>{"a", "b"}));
}

TEST(WaitText, SaysWhoWaitsForWhatSinceWhen) {
  Wait wait{.actor = "stage 1", .text = "waits for its weight update", .since_ns = 1'000'000'000};
  EXPECT_EQ(to_string(wait, 3'500'000'000), "stage 1 waits for its weight update, for 2.5 s");
  wait.since_ns = 0;
  EXPECT_EQ(to_string(wait, 3'500'000'000), "stage 1 waits for its weight update");
}

TEST(WaitText, SaysTheCycle) {
  EXPECT_EQ(cycle_text(std::vector{wait_of("a", {{"b"}}), wait_of("b", {{"a"}})}),
            "the waits form a cycle: a waits for b, which waits for a");
  EXPECT_EQ(cycle_text(std::vector{wait_of("a", {{"host"}})}), "");
}

TEST(WaitText, ListsEveryoneWhoIsAwaitedOnce) {
  EXPECT_EQ(awaited_by(wait_of("a", {{"b", "c"}, {"b", "d"}})),
            (std::vector<std::string>{"b", "c", "d"}));
}

}  // namespace
}  // namespace penstock::actors
