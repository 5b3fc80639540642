#include "engine/model/parameter_store.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <stdexcept>
#include <vector>

#include "tests/support/refusal.hpp"

namespace penstock {
namespace {

using testing::refusal;

Tensor pair(float first, float second) {
  return Tensor({2}, {first, second});
}

float first_of(const Tensor& tensor) {
  return tensor.as<float>()[0];
}

/// A StoreSource stands for a training model, and counts how often its weights are read.
class StoreSource : public WeightSource {
 public:
  explicit StoreSource(std::function<std::vector<Tensor>()> weights)
      : weights_(std::move(weights)) {}
  std::vector<Tensor> read_weights() override {
    ++reads;
    return weights_();
  }

  int reads = 0;

 private:
  std::function<std::vector<Tensor>()> weights_;
};

StoreSource source_of(float a, float b) {
  return StoreSource([=] { return std::vector{pair(a, a), pair(b, b)}; });
}

StoreSource broken_source() {
  return StoreSource([]() -> std::vector<Tensor> { throw std::runtime_error("stage 1 is gone"); });
}

constexpr auto lost_text =
    "model \"m\": the newest weights were lost when the training model that held them was "
    "destroyed, for they could not be read; load_weights() replaces them: stage 1 is gone";

/// A ParameterStoreTest has a store of two parameters: "a" begins as 1, and "b" as 2.
class ParameterStoreTest : public ::testing::Test {
 protected:
  ParameterStoreTest() {
    store.add({.name = "a", .shape = {2}}, pair(1, 1));
    store.add({.name = "b", .shape = {2}}, pair(2, 2));
  }
  float a() { return first_of(store.newest("a")); }
  float b() { return first_of(store.newest("b")); }

  ParameterStore store{"m"};
  const std::vector<std::size_t> both{0, 1};  // These are the positions of "a" and "b".
};

TEST_F(ParameterStoreTest, ReadsASourceOnceHoweverManyReadersThereAre) {
  StoreSource source = source_of(10, 20);
  store.mark_newer(source, both);
  EXPECT_EQ(source.reads, 0);
  EXPECT_EQ(a(), 10);
  EXPECT_EQ(b(), 20);
  EXPECT_EQ(first_of(store.newest()[1]), 20);
  EXPECT_EQ(source.reads, 1);
  EXPECT_EQ(store.fetches(), 1u);
  store.mark_newer(source, both);
  EXPECT_EQ(a(), 10);
  EXPECT_EQ(source.reads, 2);
}

TEST_F(ParameterStoreTest, ASourceHoldsTheVersionItWasGivenUntilTheHostChangesSomething) {
  StoreSource source = source_of(10, 20);
  const auto before = store.version();
  const auto held = store.mark_newer(source, both);
  EXPECT_GT(held, before);
  store.newest();
  EXPECT_EQ(store.version(), held);
  store.set("b", pair(5, 5));
  EXPECT_GT(store.version(), held);
}

TEST_F(ParameterStoreTest, LeavesValuesToASourceWithoutAnotherVersion) {
  StoreSource source = source_of(1, 2);
  const std::weak_ptr<const std::byte> of_a = store.newest("a").storage();
  const auto before = store.version();
  store.leave_to(source, both);
  EXPECT_TRUE(of_a.expired());
  EXPECT_EQ(store.version(), before);
  EXPECT_EQ(source.reads, 0);
  EXPECT_EQ(a(), 1);
  EXPECT_EQ(source.reads, 1);
}

TEST_F(ParameterStoreTest, TakesValuesFromOneSourceBeforeItLeavesThemToAnother) {
  StoreSource first = source_of(10, 20), second([] { return std::vector{pair(20, 20)}; });
  const std::vector<std::size_t> only_b{1};
  store.mark_newer(first, both);
  store.leave_to(second, only_b);
  EXPECT_EQ(first.reads, 1);
  EXPECT_EQ(a(), 10);
  EXPECT_EQ(b(), 20);
}

TEST_F(ParameterStoreTest, HasNoMemoryForValuesThatASourceHasInTheirPlace) {
  StoreSource source([] { return std::vector{pair(20, 20)}; });
  const std::weak_ptr<const std::byte> of_a = store.newest("a").storage(),
                                       of_b = store.newest("b").storage();
  const std::vector<std::size_t> only_b{1};
  store.mark_newer(source, only_b);
  EXPECT_FALSE(of_a.expired());
  EXPECT_TRUE(of_b.expired());
  EXPECT_EQ(source.reads, 0);
  EXPECT_EQ(b(), 20);
  EXPECT_EQ(a(), 1);
}

TEST_F(ParameterStoreTest, RefusesASourceThatReturnsOtherTensorsThanItHas) {
  StoreSource source([] { return std::vector{pair(20, 20)}; });
  store.mark_newer(source, both);
  EXPECT_EQ(refusal(Errc::internal, [&] { a(); }), "expected 2 tensors, got 1");
}

TEST_F(ParameterStoreTest, SettingOneParameterKeepsTheTrainedValuesOfTheOthers) {
  StoreSource source = source_of(10, 20);
  store.mark_newer(source, both);
  store.set("b", pair(5, 5));
  EXPECT_EQ(a(), 10);
  EXPECT_EQ(b(), 5);
  EXPECT_EQ(source.reads, 1);
}

TEST_F(ParameterStoreTest, ReplacingAllNeedsNothingFromTheSource) {
  StoreSource source = source_of(10, 20);
  const auto held = store.mark_newer(source, both);
  store.replace({pair(3, 3), pair(4, 4)});
  EXPECT_EQ(a(), 3);
  EXPECT_EQ(b(), 4);
  EXPECT_EQ(source.reads, 0);
  EXPECT_GT(store.version(), held);
}

TEST_F(ParameterStoreTest, ReplacingIsRefusedWholeIfOneTensorDoesNotFit) {
  const auto version = store.version();
  EXPECT_EQ(refusal(Errc::shape_mismatch,
                    [&] {
                      store.replace({pair(3, 3), Tensor({1}, {4.f})});
                    }),
            "model \"m\": parameter \"b\": expected f32[2], got f32[1]");
  EXPECT_EQ(refusal(Errc::shape_mismatch, [&] { store.replace({pair(3, 3)}); }),
            "model \"m\": expected 2 parameters, got 1");
  EXPECT_EQ(a(), 1);
  EXPECT_EQ(store.version(), version);
}

TEST_F(ParameterStoreTest, TheLastToTrainIsTheOneThatIsRead) {
  StoreSource first = source_of(10, 20), second = source_of(30, 40);
  const auto held = store.mark_newer(first, both);
  store.mark_newer(second, both);
  EXPECT_NE(store.version(), held);
  EXPECT_EQ(a(), 30);
  EXPECT_EQ(first.reads, 0);
}

TEST_F(ParameterStoreTest, ASourceHandsItsWeightsOverWhenItGoes) {
  StoreSource source = source_of(10, 20);
  const auto held = store.mark_newer(source, both);
  store.detach(source);
  EXPECT_EQ(source.reads, 1);
  EXPECT_EQ(a(), 10);
  EXPECT_EQ(source.reads, 1);
  EXPECT_EQ(store.version(), held);
}

TEST_F(ParameterStoreTest, ASourceThatCannotBeTakenFromHoldsWhatItHeld) {
  bool broken = true;
  StoreSource source([&] {
    if (broken) throw Error(Errc::out_of_memory, "not now");
    return std::vector{pair(10, 10), pair(20, 20)};
  });
  store.mark_newer(source, both);
  EXPECT_EQ(refusal(Errc::out_of_memory, [&] { store.take_from(source); }), "not now");
  broken = false;
  store.take_from(source);
  EXPECT_EQ(a(), 10);
  EXPECT_EQ(source.reads, 2);
}

TEST_F(ParameterStoreTest, ASourceWithoutNewerWeightsGoesUnread) {
  StoreSource first = source_of(10, 20), second = source_of(30, 40);
  store.mark_newer(first, both);
  store.mark_newer(second, both);
  store.detach(first);
  EXPECT_EQ(first.reads, 0);
  EXPECT_EQ(a(), 30);
}

TEST_F(ParameterStoreTest, ASourceThatCannotBeReadIsReportedEachTimeUntilItCan) {
  bool broken = true;
  StoreSource source([&] {
    if (broken) throw Error(Errc::out_of_memory, "not now");
    return std::vector{pair(10, 10), pair(20, 20)};
  });
  const auto held = store.mark_newer(source, both);
  for (int time = 0; time < 3; ++time) {
    EXPECT_EQ(refusal(Errc::out_of_memory, [&] { a(); }), "not now");
    EXPECT_EQ(refusal(Errc::out_of_memory, [&] { store.newest(); }), "not now");
    EXPECT_EQ(refusal(Errc::out_of_memory, [&] { store.set("b", pair(5, 5)); }), "not now");
  }
  EXPECT_EQ(store.version(), held);
  EXPECT_EQ(store.fetches(), 0U);
  broken = false;
  EXPECT_EQ(a(), 10);
  EXPECT_EQ(b(), 20);
}

TEST_F(ParameterStoreTest, WhatASourceCannotHandOverAsItGoesIsReportedLostUntilAllIsReplaced) {
  StoreSource source = broken_source();
  const auto held = store.mark_newer(source, both);
  store.detach(source);
  EXPECT_NE(store.version(), held);
  for (int time = 0; time < 3; ++time) {
    EXPECT_EQ(refusal(Errc::internal, [&] { store.newest(); }), lost_text);
    EXPECT_EQ(refusal(Errc::internal, [&] { store.set("a", pair(5, 5)); }), lost_text);
  }
  store.replace({pair(3, 3), pair(4, 4)});
  EXPECT_EQ(a(), 3);
  EXPECT_EQ(b(), 4);
}

TEST_F(ParameterStoreTest, WhatASourceReturnsIsCheckedBeforeAnyOfItIsTaken) {
  bool broken = true;
  StoreSource source([&] {
    return std::vector{pair(10, 10), broken ? Tensor({1}, {4.f}) : pair(20, 20)};
  });
  store.mark_newer(source, both);
  EXPECT_EQ(refusal(Errc::shape_mismatch, [&] { a(); }),
            "model \"m\": parameter \"b\": expected f32[2], got f32[1]");
  broken = false;
  EXPECT_EQ(b(), 20);
}

TEST_F(ParameterStoreTest, ASourceMayBeOlderThanTheLastParameters) {
  StoreSource source = source_of(10, 20);
  store.mark_newer(source, both);
  store.add({.name = "c", .shape = {2}}, pair(3, 3));
  EXPECT_EQ(b(), 20);
  EXPECT_EQ(first_of(store.newest("c")), 3);
}

TEST_F(ParameterStoreTest, WrongNamesAndTensorsAreRefusedByName) {
  EXPECT_EQ(refusal(Errc::invalid_argument, [&] { store.newest("x"); }),
            "model \"m\": there is no parameter \"x\"; there are: a, b");
  EXPECT_EQ(refusal(Errc::shape_mismatch, [&] { store.set("a", {}); }),
            "model \"m\": parameter \"a\": expected f32[2], got an empty tensor");
  EXPECT_EQ(refusal(Errc::shape_mismatch, [&] { store.set("a", Tensor::zeros(DType::i64, {2})); }),
            "model \"m\": parameter \"a\": expected f32[2], got i64[2]");
}

}  // namespace
}  // namespace penstock
