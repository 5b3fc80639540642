// These tests load files that do not have exactly the model's parameters.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "engine/files/weights_file.hpp"
#include "penstock/model.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/same_bits.hpp"
#include "tests/support/temporary_directory.hpp"

namespace penstock {
namespace {

using testing::refusal;
using testing::same_bits;

/// Returns a model with the parameters body.weight [2,3], body.bias [2] and head.weight [4,2].
Model network() {
  Model model("m", 1);
  model.linear("head", model.linear("body", model.input("x", {3}), 2), 4, false);
  return model;
}

using Tensors = std::map<std::string, Tensor>;

Tensor filled(const Shape& shape, float value) {
  return {shape, std::span<const float>(
                     std::vector<float>(static_cast<std::size_t>(shape.elements()), value))};
}

/// Returns tensors for all parameters of the network, each with another value. Their names begin
/// with `prefix`.
Tensors all(const std::string& prefix = "") {
  return {{prefix + "body.weight", filled({2, 3}, 1)},
          {prefix + "body.bias", filled({2}, 2)},
          {prefix + "head.weight", filled({4, 2}, 3)}};
}

using Names = std::vector<std::string>;

/// LoadingWeights writes a file, and loads it into a network.
class LoadingWeights : public ::testing::Test {
 protected:
  LoadedWeights load(const Tensors& tensors, const LoadOptions& options) {
    write_weights_file(path_, {.tensors = tensors});
    return model_.load_weights(path_, options);
  }

  /// Returns the first element of the parameter `name`, which all elements have in a file.
  float value(const std::string& name) const { return model_.weight(name).as<float>()[0]; }

  bool is_as_at_first(const std::string& name) const {
    return same_bits(model_.weight(name), network().weight(name));
  }

  /// Returns the refusal to load `tensors`, without the file's name, and expects that no weight has
  /// changed.
  std::string refused(Errc code, const Tensors& tensors, const LoadOptions& options) {
    const std::string text = refusal(code, [&] { load(tensors, options); });
    for (const ParameterInfo& parameter : model_.parameters())
      EXPECT_TRUE(is_as_at_first(parameter.name)) << parameter.name;
    const std::string file = "weights file \"" + path_ + "\": ";
    EXPECT_TRUE(text.starts_with(file)) << text;
    return text.substr(std::min(file.size(), text.size()));
  }

  Model model_ = network();
  testing::TemporaryDirectory directory_;
  std::string path_ = (directory_ / "weights").string();
};

TEST_F(LoadingWeights, TellsWhatWasLoaded) {
  const LoadedWeights weights = load(all(), {});
  EXPECT_EQ(weights.loaded, (Names{"body.weight", "body.bias", "head.weight"}));
  EXPECT_EQ(weights.left, Names());
  EXPECT_EQ(weights.ignored, Names());
  EXPECT_EQ(value("head.weight"), 3);
}

TEST_F(LoadingWeights, LeavesWhatTheFileLacksIfThatIsAllowed) {
  const Tensors body{{"body.bias", filled({2}, 2)}};
  EXPECT_EQ(refused(Errc::shape_mismatch, body, {.allow_unexpected = true}),
            "tensor \"body.weight\": expected f32[2,3], found none");
  const LoadedWeights weights = load(body, {.allow_missing = true});
  EXPECT_EQ(weights.loaded, Names{"body.bias"});
  EXPECT_EQ(weights.left, (Names{"body.weight", "head.weight"}));
  EXPECT_EQ(value("body.bias"), 2);
  EXPECT_TRUE(is_as_at_first("body.weight"));
  EXPECT_TRUE(is_as_at_first("head.weight"));
}

TEST_F(LoadingWeights, IgnoresWhatIsNoParameterIfThatIsAllowed) {
  Tensors tensors = all();
  tensors["tail"] = filled({7}, 7);
  tensors["steps"] = Tensor::zeros(DType::i64, {});
  EXPECT_EQ(refused(Errc::shape_mismatch, tensors, {.allow_missing = true}),
            "tensor \"steps\": is no parameter of model \"m\"");
  const LoadedWeights weights = load(tensors, {.allow_unexpected = true});
  EXPECT_EQ(weights.ignored, (Names{"steps", "tail"}));
  EXPECT_EQ(weights.loaded.size(), 3u);
}

TEST_F(LoadingWeights, StripsAndAddsPrefixes) {
  EXPECT_EQ(load(all("module."), {.strip_prefix = "module."}).loaded.size(), 3u);
  Tensors tensors{{"weight", filled({2, 3}, 5)}, {"module.bias", filled({2}, 6)}};
  const LoadedWeights weights =
      load(tensors, {.strip_prefix = "module.", .add_prefix = "body.", .parameters = {"body.*"}});
  EXPECT_EQ(weights.loaded, (Names{"body.weight", "body.bias"}));
  EXPECT_EQ(weights.left, Names{"head.weight"});
  EXPECT_EQ(value("body.weight"), 5);
  EXPECT_EQ(value("body.bias"), 6);
  EXPECT_EQ(value("head.weight"), 3);
}

TEST_F(LoadingWeights, NamesTheTensorOfTheFileAndTheParameterThatItStandsFor) {
  Tensors tensors = all("net.");
  tensors["net.body.bias"] = filled({3}, 1);
  EXPECT_EQ(refused(Errc::shape_mismatch, tensors, {.strip_prefix = "net."}),
            "tensor \"net.body.bias\", as \"body.bias\": expected f32[2], got f32[3]");
  tensors = all("net.");
  tensors["net.tail"] = filled({3}, 1);
  EXPECT_EQ(refused(Errc::shape_mismatch, tensors, {.strip_prefix = "net."}),
            "tensor \"net.tail\", as \"tail\": is no parameter of model \"m\"");
}

TEST_F(LoadingWeights, TakesNamesFromAMapping) {
  Tensors tensors = all("net.");
  tensors["w"] = filled({4, 2}, 9);
  tensors.erase("net.head.weight");
  load(tensors, {.strip_prefix = "net.", .names = {{"w", "head.weight"}}});
  EXPECT_EQ(value("head.weight"), 9);
  EXPECT_EQ(value("body.bias"), 2);
}

TEST_F(LoadingWeights, RefusesAMappingThatDoesNotFit) {
  EXPECT_EQ(refused(Errc::invalid_argument, all(), {.names = {{"head.weigth", "head.weight"}}}),
            "options.names: the file has no tensor \"head.weigth\"; did you mean "
            "\"head.weight\"?");
  EXPECT_EQ(refused(Errc::invalid_argument, all(), {.names = {{"head.weight", "heads.weight"}}}),
            "options.names: model \"m\" has no parameter \"heads.weight\"; did you mean "
            "\"head.weight\"?");
  Tensors tensors = all();
  tensors["w"] = filled({4, 2}, 9);
  EXPECT_EQ(refused(Errc::invalid_argument, tensors, {.names = {{"w", "head.weight"}}}),
            "tensors \"head.weight\" and \"w\" both stand for parameter \"head.weight\"");
}

// A new head may have another shape than the one in the file.
TEST_F(LoadingWeights, LoadsOnlyWhatPatternsMatch) {
  Tensors tensors = all();
  tensors["head.weight"] = filled({10, 2}, 4);
  EXPECT_EQ(
      refused(Errc::shape_mismatch, tensors, {.allow_missing = true, .allow_unexpected = true}),
      "tensor \"head.weight\": expected f32[4,2], got f32[10,2]");
  const LoadedWeights weights = load(tensors, {.parameters = {"body.weight", "b*.bias"}});
  EXPECT_EQ(weights.loaded, (Names{"body.weight", "body.bias"}));
  EXPECT_EQ(weights.left, Names{"head.weight"});
  EXPECT_EQ(weights.ignored, Names{"head.weight"});
  EXPECT_TRUE(is_as_at_first("head.weight"));
}

TEST_F(LoadingWeights, RefusesAPatternThatMatchesNothing) {
  EXPECT_EQ(refused(Errc::invalid_argument, all(), {.parameters = {"body.*", "haed.*"}}),
            "options.parameters[1]: model \"m\" has no parameter \"haed.*\"; there are: "
            "body.weight, body.bias, head.weight");
}

TEST_F(LoadingWeights, StillNeedsEveryParameterThatPatternsMatch) {
  EXPECT_EQ(
      refused(Errc::shape_mismatch, {{"body.bias", filled({2}, 2)}}, {.parameters = {"body.*"}}),
      "tensor \"body.weight\": expected f32[2,3], found none");
}

}  // namespace
}  // namespace penstock
