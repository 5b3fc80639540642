// These tests check what a model says of frozen parameters and buffers, and of freezing what is not
// there.
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "penstock/model.hpp"
#include "penstock/sequential.hpp"
#include "tests/support/refusal.hpp"

namespace penstock {
namespace {

using testing::refusal;

Model conv_and_norms() {
  Model model("m");
  Value x = model.input("x", {2, 4, 4});
  x = model.conv2d("body.conv", x, {.out_channels = 3, .kernel = 3});
  x = model.batch_norm2d("body.norm", x);
  x = model.batch_norm2d("norm", x);
  model.linear("head", model.flatten(x), 2);
  return model;
}

/// Returns the names of the parameters and buffers of which `says` is true, joined by blanks.
std::string named_by(const Model& model, bool ParameterInfo::*says) {
  std::string text;
  for (const ParameterInfo& info : model.parameters())
    if (info.*says) text += (text.empty() ? "" : " ") + info.name;
  return text;
}

TEST(Freezing, IsToldOfEachParameter) {
  Model model = conv_and_norms();
  const std::string all =
      "body.conv.weight body.conv.bias body.norm.weight body.norm.bias norm.weight norm.bias "
      "head.weight head.bias";
  EXPECT_EQ(named_by(model, &ParameterInfo::trainable), all);
  EXPECT_EQ(named_by(model, &ParameterInfo::frozen), "");
  model.freeze("body.*");
  EXPECT_EQ(named_by(model, &ParameterInfo::trainable),
            "norm.weight norm.bias head.weight head.bias");
  EXPECT_EQ(named_by(model, &ParameterInfo::frozen),
            "body.conv.weight body.conv.bias body.norm.weight body.norm.bias");
  model.unfreeze("body.*.bias");
  EXPECT_EQ(named_by(model, &ParameterInfo::frozen), "body.conv.weight body.norm.weight");
  model.unfreeze("*");
  EXPECT_EQ(named_by(model, &ParameterInfo::trainable), all);
}

TEST(Freezing, OfStatisticsIsForAllBuffersOfALayer) {
  Model model = conv_and_norms();
  const std::string buffers =
      "body.norm.running_mean body.norm.running_var norm.running_mean norm.running_var";
  EXPECT_EQ(named_by(model, &ParameterInfo::buffer), buffers);
  model.freeze_statistics("body.*mean");
  EXPECT_EQ(named_by(model, &ParameterInfo::frozen),
            "body.norm.running_mean body.norm.running_var");
  EXPECT_EQ(named_by(model, &ParameterInfo::buffer), buffers);
  model.freeze_statistics("*");
  EXPECT_EQ(named_by(model, &ParameterInfo::frozen), buffers);
  model.unfreeze_statistics("norm.*");
  EXPECT_EQ(named_by(model, &ParameterInfo::frozen),
            "body.norm.running_mean body.norm.running_var");
}

TEST(Freezing, OfWhatIsNotThereChangesNothing) {
  Model model = conv_and_norms();
  model.freeze("head.*");
  EXPECT_EQ(refusal(Errc::invalid_argument, [&] { model.freeze("head.wieght"); }),
            "model \"m\": there is no parameter \"head.wieght\"; did you mean \"head.weight\"?");
  EXPECT_NE(refusal(Errc::invalid_argument, [&] { model.unfreeze("*running*"); })
                .find("there is no parameter \"*running*\""),
            std::string::npos);
  EXPECT_NE(refusal(Errc::invalid_argument, [&] { model.freeze_statistics("body.norm.weight"); })
                .find("there is no buffer \"body.norm.weight\""),
            std::string::npos);
  EXPECT_NE(refusal(Errc::invalid_argument, [&] { model.unfreeze_statistics("head.*"); }),
            "accepted");
  EXPECT_EQ(named_by(model, &ParameterInfo::frozen), "head.weight head.bias");
}

TEST(Freezing, IsCopiedByCloneAndTheCopyIsIndependent) {
  Model model = conv_and_norms();
  model.freeze("head.*");
  Model copy = model.clone();
  EXPECT_EQ(named_by(copy, &ParameterInfo::frozen), "head.weight head.bias");
  copy.unfreeze("*");
  EXPECT_EQ(named_by(model, &ParameterInfo::frozen), "head.weight head.bias");
}

TEST(Freezing, InAFunctionThatFailsIsTakenBackWithItsLayers) {
  Model model = conv_and_norms();
  model.freeze("norm.*");
  Sequential chain(model, model.input("y", {3}));
  const Sequential::Layer layer = [](Model& in, Value x) -> Value {
    x = in.linear("more", x, 2);
    in.freeze("*");
    in.unfreeze("norm.*");
    throw std::runtime_error("no");
  };
  EXPECT_THROW(chain.add(layer), std::exception);
  EXPECT_EQ(named_by(model, &ParameterInfo::frozen), "norm.weight norm.bias");
}

TEST(Freezing, LeavesInitializingAsItIs) {
  Model model = conv_and_norms();
  model.freeze("head.bias");
  model.initialize("head.bias", Initializer::constant(2));
  EXPECT_EQ(model.weight("head.bias").as<float>()[0], 2);
}

}  // namespace
}  // namespace penstock
