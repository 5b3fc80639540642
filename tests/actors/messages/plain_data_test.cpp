#include "actors/messages/plain_data.hpp"

#include <gtest/gtest.h>

#include <caf/actor.hpp>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string_view>

#include "actors/messages/local_messages.hpp"

namespace penstock::actors {
namespace {

struct Inner {
  double number = 0;
  std::vector<std::string> names = {};
};
struct OfData {
  Inner inner = {};
  std::vector<Inner> list = {};
  Tensor tensor = {};
  TensorList tensors = {};
  HostClass name = HostClass::weights;
  bool yes = false;
  std::string text = {};
  std::vector<double> numbers = {};
};

TEST(PlainData, IsMadeOfNumbersTextTensorsAndListsOfThese) {
  EXPECT_TRUE(is_plain_data<OfData>());
  EXPECT_TRUE(is_plain_data<OutputsTaken>()) << "a message may say nothing but that it has come";
}

/// A With is a type that has a `Member` besides plain data.
template <class Member>
struct With {
  int number = 0;
  Member member = {};
};

template <class Member>
constexpr bool refuses_everywhere() {
  return !is_plain_data<Member>() && !is_plain_data<With<Member>>() &&
         !is_plain_data<With<With<Member>>>() && !is_plain_data<std::vector<With<Member>>>() &&
         !is_plain_data<With<std::vector<Member>>>();
}

TEST(PlainData, HoldsNoPointerHandleOrCodeHoweverDeepWithin) {
  EXPECT_TRUE(refuses_everywhere<const int*>());
  EXPECT_TRUE(refuses_everywhere<std::shared_ptr<const int>>());
  EXPECT_TRUE(refuses_everywhere<std::unique_ptr<int>>());
  EXPECT_TRUE(refuses_everywhere<std::span<const int>>());
  EXPECT_TRUE(refuses_everywhere<std::string_view>());
  EXPECT_TRUE(refuses_everywhere<std::function<void()>>());
  EXPECT_TRUE(refuses_everywhere<void (*)()>());
  EXPECT_TRUE(refuses_everywhere<std::stop_token>());
  EXPECT_TRUE(refuses_everywhere<caf::actor>());
  EXPECT_TRUE(refuses_everywhere<StageHandle>());
  EXPECT_TRUE(refuses_everywhere<std::shared_ptr<Arena>>());
}

// If a message of local_messages.hpp were plain data, it would belong in data_messages.hpp.
TEST(PlainData, IsNotWhatTheMessagesOfOneProcessHold) {
  EXPECT_FALSE(is_plain_data<RunProgram>());
  EXPECT_FALSE(is_plain_data<RunUpdate>());
  EXPECT_FALSE(is_plain_data<StoreBlock>());
  EXPECT_FALSE(is_plain_data<FetchedBlock>());
  EXPECT_FALSE(is_plain_data<StepCall>());
  EXPECT_FALSE(is_plain_data<SetRules>());
  EXPECT_FALSE(is_plain_data<GateLinks>());
}

}  // namespace
}  // namespace penstock::actors
