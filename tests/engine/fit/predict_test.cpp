#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "penstock/error.hpp"
#include "penstock/fit.hpp"
#include "tests/engine/fit/scaling.hpp"
#include "tests/support/refusal.hpp"

namespace penstock {
namespace {

using testing::numbers;
using testing::options;
using testing::refusal;
using testing::Scaling;

TEST(Predict, G5_ReturnsARowForEverySample) {
  Scaling scaling;
  InferenceModel inference(scaling.model, {.batch_size = 2, .device_iterations = 2});
  DataLoader data = numbers(7, 4, false);
  const std::vector<NamedTensor> outputs = predict(inference, data);
  ASSERT_EQ(outputs.size(), 1U);
  EXPECT_EQ(outputs[0].name, "y");
  ASSERT_EQ(outputs[0].tensor.shape(), (Shape{7, 1}));
  for (std::size_t i = 0; i < 7; ++i)
    EXPECT_EQ(outputs[0].tensor.as<float>()[i], static_cast<float>(i));
}

TEST(Predict, TakesAnyNumberOfSamplesAtOnce) {
  Scaling scaling;
  InferenceModel inference(scaling.model, options());  // in which accumulation has no meaning
  for (const std::int64_t samples : {1, 3, 4, 5, 8, 9}) {
    std::vector<float> x(static_cast<std::size_t>(samples));
    std::iota(x.begin(), x.end(), 0.0f);
    const Tensor y =
        predict(inference, {Tensor({samples, 1}, std::span<const float>(x))})[0].tensor;
    ASSERT_EQ(y.shape(), (Shape{samples, 1}));
    EXPECT_TRUE(std::equal(x.begin(), x.end(), y.as<float>().begin()));
  }
}

TEST(Predict, SaysWhatIsWrongWithItsInputsAndOutputs) {
  Scaling scaling;
  InferenceModel inference(scaling.model, {.batch_size = 2});
  EXPECT_THROW(predict(inference, std::vector<Tensor>{}), Error);
  EXPECT_THROW(predict(inference, {Tensor({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8})}), Error);
  InferenceModel last_only(
      scaling.model,
      {.batch_size = 2, .device_iterations = 2, .output = {.mode = OutputMode::final}});
  EXPECT_EQ(refusal(Errc::shape_mismatch,
                    [&] {
                      predict(last_only, {Tensor({4, 1}, {1, 2, 3, 4})});
                    }),
            "predict: expected a row of output \"y\" for each of 4 samples, got [2,1]");
}

}  // namespace
}  // namespace penstock
