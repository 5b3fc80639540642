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
  EXPECT_EQ(refusal(Errc::shape_mismatch, [&] { static_cast<void>(empty.as<float>()); }),
            "tensor: expected f32 elements, got none");
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
