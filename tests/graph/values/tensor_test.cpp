#include "penstock/tensor.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
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

TEST(Tensor, HasAsManyBytesAsItsElements) {
  const Tensor bytes({2, 3}, std::vector<std::uint8_t>{0, 1, 2, 253, 254, 255});
  const Tensor numbers({3}, std::vector<std::int32_t>{-1, 0, 1 << 30});
  const Tensor mask({2}, std::array{true, false});
  EXPECT_EQ(bytes.dtype(), DType::u8);
  EXPECT_EQ(bytes.bytes(), 6U);
  EXPECT_EQ(bytes.rows(1, 2).as<std::uint8_t>()[2], 255);
  EXPECT_EQ(numbers.dtype(), DType::i32);
  EXPECT_EQ(numbers.bytes(), 12U);
  EXPECT_EQ(numbers.rows(2, 3).as<std::int32_t>()[0], 1 << 30);
  EXPECT_EQ(mask.dtype(), DType::boolean);
  EXPECT_EQ(mask.bytes(), 2U);
  EXPECT_TRUE(mask.as<bool>()[0]);
  EXPECT_FALSE(mask.rows(1, 2).as<bool>()[0]);
  EXPECT_EQ(Tensor::zeros(DType::u8, {7}).bytes(), 7U);
  EXPECT_EQ(refusal(Errc::shape_mismatch,
                    [] {
                      Tensor({3}, std::vector<std::uint8_t>{1, 2});
                    }),
            "tensor [3]: expected 3 values, got 2");
}

TEST(Tensor, NamesEveryType) {
  const auto name = [](DType dtype) { return std::string(to_string(dtype)); };
  EXPECT_EQ(name(DType::f32) + name(DType::i64) + name(DType::u8) + name(DType::i32) +
                name(DType::boolean),
            "f32i64u8i32bool");
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
