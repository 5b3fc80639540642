#include <gtest/gtest.h>

#include "engine/files/weights_file.hpp"
#include "engine/model/model_access.hpp"
#include "graph/values/memory.hpp"
#include "penstock/model.hpp"
#include "penstock/output_file.hpp"
#include "penstock/training_model.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/temporary_directory.hpp"

namespace penstock {
namespace {

using testing::refusal;
using testing::TemporaryDirectory;

/// Returns a model with parameters "fc.weight" [2,3] and "fc.bias" [2].
Model small_model(std::uint64_t seed) {
  Model model("m", seed);
  model.linear("fc", model.input("x", {3}), 2);
  return model;
}

std::vector<std::vector<float>> all_weights(const Model& model) {
  std::vector<std::vector<float>> weights;
  for (const ParameterInfo& info : model.parameters()) {
    const Tensor weight = model.weight(info.name);
    weights.emplace_back(weight.as<float>().begin(), weight.as<float>().end());
  }
  return weights;
}

TEST(ModelWeights, ComeBackFromTheirFileBitForBit) {
  TemporaryDirectory directory;
  const std::string path = (directory / "weights").string();
  const Model saved = small_model(1);
  Model loaded = small_model(2);
  ASSERT_NE(all_weights(saved), all_weights(loaded));
  saved.save_weights(path);
  loaded.load_weights(path);
  EXPECT_EQ(all_weights(saved), all_weights(loaded));
}

/// A FakeSource stands for a training model that has newer weights.
class FakeSource : public WeightSource {
 public:
  std::vector<Tensor> read_weights() override {
    return {Tensor::zeros(DType::f32, {2, 3}), Tensor({2}, {7.f, 8.f})};
  }
};

TEST(ModelWeights, SavedOnesAreTheTrainedOnes) {
  TemporaryDirectory directory;
  const std::string path = (directory / "weights").string();
  const Model model = small_model(1);
  FakeSource source;
  const std::vector<std::size_t> all{0, 1};
  ModelAccess::weights(model)->mark_newer(source, all);
  model.save_weights(path);
  EXPECT_EQ(read_weights_file(path).tensors.at("fc.bias").as<float>()[1], 8);
}

TEST(ModelWeights, TakeNoMemoryOfTheHostWhileTheIpusHaveNewerOnes) {
  constexpr std::int64_t features = 256, bytes = features * features * std::int64_t{sizeof(float)};
  Model model("m");
  const Value y = model.linear("fc", model.input("x", {features}), features, false);
  model.loss(model.mse_loss(y, model.input("target", {features})));
  TrainingModel training(model, {.batch_size = 1});
  const std::vector<Tensor> batch(2, Tensor::zeros(DType::f32, {1, features}));
  const std::weak_ptr<const std::byte> first = model.weight("fc.weight").storage();
  ASSERT_FALSE(first.expired());
  training.step(batch);
  EXPECT_TRUE(first.expired());
  const auto live = [] { return static_cast<std::int64_t>(memory_counters().bytes_live); };
  const std::int64_t without = live();
  for (int step = 0; step < 2; ++step) {
    EXPECT_EQ(model.weight("fc.weight").shape(), (Shape{features, features}));
    EXPECT_EQ(live() - without, bytes);
    training.step(batch);
    EXPECT_EQ(live(), without);
  }
}

TEST(ModelWeights, IntoAnOpenFileAppearWhenThatIsCommitted) {
  TemporaryDirectory directory;
  const std::string by_path = (directory / "by_path").string();
  OutputFile file(directory / "open");
  small_model(1).save_weights(file);
  small_model(1).save_weights(by_path);
  EXPECT_FALSE(std::filesystem::exists(directory / "open"));
  file.commit();
  EXPECT_EQ(testing::file_content(directory / "open"), testing::file_content(by_path));
}

struct Refused {
  const char* text;  ///< This is the part of the text after `weights file "PATH": `.
  std::map<std::string, Tensor> tensors;
};

TEST(ModelWeights, AFileThatDoesNotFitTheModelChangesNothing) {
  const Tensor weight = Tensor::zeros(DType::f32, {2, 3}), bias = Tensor::zeros(DType::f32, {2});
  const std::vector<Refused> cases{
      {"tensor \"fc.bias\": expected f32[2], found none", {{"fc.weight", weight}}},
      {"tensor \"fc.bias\": expected f32[2], got f32[2,3]",
       {{"fc.weight", weight}, {"fc.bias", weight}}},
      {"tensor \"fc.weight\": expected f32[2,3], got i64[2,3]",
       {{"fc.weight", Tensor::zeros(DType::i64, {2, 3})}, {"fc.bias", bias}}},
      {"tensor \"fd.bias\": is no parameter of model \"m\"",
       {{"fc.weight", weight}, {"fc.bias", bias}, {"fd.bias", bias}}},
  };
  TemporaryDirectory directory;
  const std::string path = (directory / "weights").string();
  for (const Refused& refused : cases) {
    write_weights_file(path, {.tensors = refused.tensors});
    Model model = small_model(1);
    EXPECT_EQ(refusal(Errc::shape_mismatch, [&] { model.load_weights(path); }),
              "weights file \"" + path + "\": " + refused.text);
    EXPECT_EQ(all_weights(model), all_weights(small_model(1)));
  }
}

// The file has a header and a hole. The header claims more elements than any machine has room for.
TEST(ModelWeights, AreNotReadFromAFileThatIsTooLarge) {
  constexpr std::uint64_t elements = std::uint64_t{1} << 38;
  const std::string header =
      R"({"fc.bias":{"dtype":"F32","shape":[)" + std::to_string(elements) +
      R"(],"data_offsets":[0,)" + std::to_string(4 * elements) +
      R"(]},"fc.weight":{"dtype":"F32","shape":[2,0],"data_offsets":[0,0]}})";
  const std::uint64_t size = header.size();
  TemporaryDirectory directory;
  const std::string path = (directory / "weights").string();
  testing::write_file(path,
                      std::string(reinterpret_cast<const char*>(&size), sizeof size) + header);
  std::filesystem::resize_file(path, sizeof size + size + 4 * elements);
  Model model = small_model(1);
  EXPECT_EQ(refusal(Errc::shape_mismatch, [&] { model.load_weights(path); }),
            "weights file \"" + path + "\": tensor \"fc.weight\": expected f32[2,3], got f32[2,0]");
}

TEST(ModelWeights, AFileThatIsMissingOrCorruptIsNamed) {
  TemporaryDirectory directory;
  Model model = small_model(1);
  const std::string path = (directory / "weights").string();
  EXPECT_NE(refusal(Errc::io_error, [&] { model.load_weights(path); }).find(path),
            std::string::npos);
  testing::write_file(path, "no weights");
  EXPECT_NE(refusal(Errc::corrupt_file, [&] { model.load_weights(path); }).find(path),
            std::string::npos);
}

}  // namespace
}  // namespace penstock
