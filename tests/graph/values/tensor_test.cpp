#include "penstock/tensor.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tests/support/refusal.hpp"

namespace penstock {
namespace {

using testing::refusal;

TEST(Tensor, SaysThatItIsEmptyWhateverItIsAskedFor) {
  const Tensor empty;
  const std::string expected =
      "tensor: expected one with elements, got an empty handle, as Tensor() makes, which has "
      "neither a shape nor elements; ask `if (tensor)` first";
  const auto refused = [](auto&& ask) { return refusal(Errc::invalid_argument, ask); };
  EXPECT_FALSE(empty);
  EXPECT_EQ(refused([&] { static_cast<void>(empty.shape()); }), expected);
  EXPECT_EQ(refused([&] { static_cast<void>(empty.dtype()); }), expected);
  EXPECT_EQ(refused([&] { static_cast<void>(empty.elements()); }), expected);
  EXPECT_EQ(refused([&] { static_cast<void>(empty.bytes()); }), expected);
  EXPECT_EQ(refused([&] { static_cast<void>(empty.raw()); }), expected);
  EXPECT_EQ(refused([&] { static_cast<void>(empty.storage()); }), expected);
  EXPECT_EQ(refused([&] { static_cast<void>(empty.as<float>()); }), expected);
  EXPECT_EQ(refused([&] { static_cast<void>(empty.item()); }), expected);
  EXPECT_EQ(refused([&] { static_cast<void>(empty.rows(0, 1)); }), expected);
  EXPECT_EQ(refused([&] { static_cast<void>(empty.reshaped({1})); }), expected);
}

TEST(Tensor, WrapsNoNullUnlessItHasNoElements) {
  EXPECT_EQ(refusal(Errc::invalid_argument,
                    [] {
                      Tensor::wrap(DType::f32, {2, 2}, nullptr);
                    }),
            "tensor [2,2]: expected a pointer to 4 elements, got null");
  EXPECT_EQ(Tensor::wrap(DType::f32, {2, 0}, nullptr).elements(), 0);
}

TEST(Tensor, SaysWhichTypeItsElementsHave) {
  EXPECT_EQ(refusal(Errc::shape_mismatch,
                    [] {
                      static_cast<void>(Tensor({2}, {1, 2}).as<std::int64_t>());
                    }),
            "tensor [2]: expected i64 elements, got f32");
}

TEST(Tensor, SaysWhereTheMeanOfSeveralElementsIs) {
  EXPECT_EQ(Tensor({1, 1}, {7}).item(), 7);
  EXPECT_EQ(refusal(Errc::shape_mismatch,
                    [] {
                      static_cast<void>(Tensor({2}, {1, 2}).item());
                    }),
            "tensor [2]: item() needs exactly one element, got 2; as<float>() returns all of them, "
            "and the mean of a step's loss is StepResult::mean_loss");
}

}  // namespace
}  // namespace penstock
