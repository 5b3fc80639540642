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
Model body_and_head() {
  Model model("m", 1);
  model.linear("head", model.linear("body", model.input("x", {3}), 2), 4, false);
  return model;
}

using FileTensors = std::map<std::string, Tensor>;

Tensor filled_tensor(const Shape& shape, float value) {
  return {shape, std::span<const float>(
                     std::vector<float>(static_cast<std::size_t>(shape.elements()), value))};
}

/// Returns tensors for all parameters of the network, each with another value. Their names begin
/// with `prefix`.
FileTensors all_tensors(const std::string& prefix = "") {
  return {{prefix + "body.weight", filled_tensor({2, 3}, 1)},
          {prefix + "body.bias", filled_tensor({2}, 2)},
          {prefix + "head.weight", filled_tensor({4, 2}, 3)}};
}

using NameList = std::vector<std::string>;

/// LoadingWeights writes a file, and loads it into a network.
class LoadingWeights : public ::testing::Test {
 protected:
  LoadedWeights load(const FileTensors& tensors, const LoadOptions& options) {
    write_weights_file(path_, {.tensors = tensors});
    return model_.load_weights(path_, options);
  }

  /// Returns the first element of the parameter `name`, which all elements have in a file.
  float value(const std::string& name) const { return model_.weight(name).as<float>()[0]; }

  bool is_as_at_first(const std::string& name) const {
    return same_bits(model_.weight(name), body_and_head().weight(name));
  }

  /// Returns the refusal to load `tensors`, without the file's name, and expects that no weight has
  /// changed.
  std::string refused(Errc code, const FileTensors& tensors, const LoadOptions& options) {
    const std::string text = refusal(code, [&] { load(tensors, options); });
    for (const ParameterInfo& parameter : model_.parameters())
      EXPECT_TRUE(is_as_at_first(parameter.name)) << parameter.name;
    const std::string file = "weights file \"" + path_ + "\": ";
    EXPECT_TRUE(text.starts_with(file)) << text;
    return text.substr(std::min(file.size(), text.size()));
  }

  Model model_ = body_and_head();
  testing::TemporaryDirectory directory_;
  std::string path_ = (directory_ / "weights").string();
};

TEST_F(LoadingWeights, TellsWhatWasLoaded) {
  const LoadedWeights weights = load(all_tensors(), {});
  EXPECT_EQ(weights.loaded, (NameList{"body.weight", "body.bias", "head.weight"}));
  EXPECT_EQ(weights.left, NameList());
  EXPECT_EQ(weights.ignored, NameList());
  EXPECT_EQ(value("head.weight"), 3);
}

TEST_F(LoadingWeights, LeavesWhatTheFileLacksIfThatIsAllowed) {
  const FileTensors body{{"body.bias", filled_tensor({2}, 2)}};
  EXPECT_EQ(refused(Errc::shape_mismatch, body, {.allow_unexpected = true}),
            "tensor \"body.weight\": expected f32[2,3], found none");
  const LoadedWeights weights = load(body, {.allow_missing = true});
  EXPECT_EQ(weights.loaded, NameList{"body.bias"});
  EXPECT_EQ(weights.left, (NameList{"body.weight", "head.weight"}));
  EXPECT_EQ(value("body.bias"), 2);
  EXPECT_TRUE(is_as_at_first("body.weight"));
  EXPECT_TRUE(is_as_at_first("head.weight"));
}

TEST_F(LoadingWeights, IgnoresWhatIsNoParameterIfThatIsAllowed) {
  FileTensors tensors = all_tensors();
  tensors["tail"] = filled_tensor({7}, 7);
  tensors["steps"] = Tensor::zeros(DType::i64, {});
  EXPECT_EQ(refused(Errc::shape_mismatch, tensors, {.allow_missing = true}),
            "tensor \"steps\": is no parameter of model \"m\"");
  const LoadedWeights weights = load(tensors, {.allow_unexpected = true});
  EXPECT_EQ(weights.ignored, (NameList{"steps", "tail"}));
  EXPECT_EQ(weights.loaded.size(), 3u);
}

TEST_F(LoadingWeights, StripsAndAddsPrefixes) {
  EXPECT_EQ(load(all_tensors("module."), {.strip_prefix = "module."}).loaded.size(), 3u);
  FileTensors tensors{{"weight", filled_tensor({2, 3}, 5)}, {"module.bias", filled_tensor({2}, 6)}};
  const LoadedWeights weights =
      load(tensors, {.strip_prefix = "module.", .add_prefix = "body.", .parameters = {"body.*"}});
  EXPECT_EQ(weights.loaded, (NameList{"body.weight", "body.bias"}));
  EXPECT_EQ(weights.left, NameList{"head.weight"});
  EXPECT_EQ(value("body.weight"), 5);
  EXPECT_EQ(value("body.bias"), 6);
  EXPECT_EQ(value("head.weight"), 3);
}

TEST_F(LoadingWeights, NamesTheTensorOfTheFileAndTheParameterThatItStandsFor) {
  FileTensors tensors = all_tensors("net.");
  tensors["net.body.bias"] = filled_tensor({3}, 1);
  EXPECT_EQ(refused(Errc::shape_mismatch, tensors, {.strip_prefix = "net."}),
            "tensor \"net.body.bias\", as \"body.bias\": expected f32[2], got f32[3]");
  tensors = all_tensors("net.");
  tensors["net.tail"] = filled_tensor({3}, 1);
  EXPECT_EQ(refused(Errc::shape_mismatch, tensors, {.strip_prefix = "net."}),
            "tensor \"net.tail\", as \"tail\": is no parameter of model \"m\"");
}

TEST_F(LoadingWeights, TakesNamesFromAMapping) {
  FileTensors tensors = all_tensors("net.");
  tensors["w"] = filled_tensor({4, 2}, 9);
  tensors.erase("net.head.weight");
  load(tensors, {.strip_prefix = "net.", .names = {{"w", "head.weight"}}});
  EXPECT_EQ(value("head.weight"), 9);
  EXPECT_EQ(value("body.bias"), 2);
}

TEST_F(LoadingWeights, RefusesAMappingThatDoesNotFit) {
  EXPECT_EQ(
      refused(Errc::invalid_argument, all_tensors(), {.names = {{"head.weigth", "head.weight"}}}),
      "options.names: the file has no tensor \"head.weigth\"; did you mean "
      "\"head.weight\"?");
  EXPECT_EQ(
      refused(Errc::invalid_argument, all_tensors(), {.names = {{"head.weight", "heads.weight"}}}),
      "options.names: model \"m\" has no parameter \"heads.weight\"; did you mean "
      "\"head.weight\"?");
  FileTensors tensors = all_tensors();
  tensors["w"] = filled_tensor({4, 2}, 9);
  EXPECT_EQ(refused(Errc::invalid_argument, tensors, {.names = {{"w", "head.weight"}}}),
            "tensors \"head.weight\" and \"w\" both stand for parameter \"head.weight\"");
}

// A new head may have another shape than the one in the file.
TEST_F(LoadingWeights, LoadsOnlyWhatPatternsMatch) {
  FileTensors tensors = all_tensors();
  tensors["head.weight"] = filled_tensor({10, 2}, 4);
  EXPECT_EQ(
      refused(Errc::shape_mismatch, tensors, {.allow_missing = true, .allow_unexpected = true}),
      "tensor \"head.weight\": expected f32[4,2], got f32[10,2]");
  const LoadedWeights weights = load(tensors, {.parameters = {"body.weight", "b*.bias"}});
  EXPECT_EQ(weights.loaded, (NameList{"body.weight", "body.bias"}));
  EXPECT_EQ(weights.left, NameList{"head.weight"});
  EXPECT_EQ(weights.ignored, NameList{"head.weight"});
  EXPECT_TRUE(is_as_at_first("head.weight"));
}

TEST_F(LoadingWeights, RefusesAPatternThatMatchesNothing) {
  EXPECT_EQ(refused(Errc::invalid_argument, all_tensors(), {.parameters = {"body.*", "haed.*"}}),
            "options.parameters[1]: model \"m\" has no parameter \"haed.*\"; there are: "
            "body.weight, body.bias, head.weight");
}

TEST_F(LoadingWeights, StillNeedsEveryParameterThatPatternsMatch) {
  EXPECT_EQ(refused(Errc::shape_mismatch, {{"body.bias", filled_tensor({2}, 2)}},
                    {.parameters = {"body.*"}}),
            "tensor \"body.weight\": expected f32[2,3], found none");
}

}  // namespace
}  // namespace penstock
