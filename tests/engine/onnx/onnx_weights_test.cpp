#include <gtest/gtest.h>

#include <string>

#include "tests/engine/onnx/imported_models.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/same_bits.hpp"
#include "tests/support/temporary_directory.hpp"

namespace penstock::testing {
namespace {

class OnnxWeightsOfFiles : public ::testing::Test {
 protected:
  OnnxWeightsOfFiles() { write_file(from_, perceptron().file()); }

  TemporaryDirectory directory_;
  std::string from_ = (directory_ / "from.onnx").string(), to_ = (directory_ / "to.onnx").string();
};

TEST_F(OnnxWeightsOfFiles, AreReadUnderTheirNames) {
  const std::vector<NamedTensor> weights = load_onnx_weights(from_);
  ASSERT_EQ(weights.size(), 4u);
  EXPECT_EQ(weights[0].name, "fc1.weight");
  EXPECT_TRUE(same_bits(weights[0].tensor, counted({6, 4})));
}

TEST_F(OnnxWeightsOfFiles, TakeThePlaceOfOthers) {
  save_onnx_with_weights(from_, to_, {{"fc2.bias", Tensor({3}, {1, 2, 3})}});
  const std::vector<NamedTensor> weights = load_onnx_weights(to_);
  EXPECT_TRUE(same_bits(weights[3].tensor, Tensor({3}, {1, 2, 3})));
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_TRUE(same_bits(weights[i].tensor, load_onnx_weights(from_)[i].tensor));
}

TEST_F(OnnxWeightsOfFiles, LeaveWhatIsUnknownAsItIs) {
  OnnxBytes bytes = perceptron();
  const std::string scalar = wire_integer(2, 1) + wire_real(4, 0.5f) + wire_bytes(8, "half");
  bytes.graph_field(wire_bytes(5, scalar));
  bytes.model_field(wire_bytes(6, "what the model is for")).graph_field(wire_bytes(10, "a graph"));
  write_file(from_, bytes.file());
  save_onnx_with_weights(from_, to_, {});
  EXPECT_EQ(file_content(to_), file_content(from_));
}

TEST_F(OnnxWeightsOfFiles, LieInTheFileWhereTheyLayBesideIt) {
  Model model("beside", 1);
  model.output("y", model.linear("fc", model.input("x", {4}), 3));
  model.save_onnx(from_, {.weights = OnnxWeights::beside});
  save_onnx_with_weights(from_, to_, {{"fc.bias", Tensor({3}, {1, 2, 3})}});
  std::filesystem::remove(from_ + ".data");
  const Model read = Model::from_onnx(to_);
  EXPECT_TRUE(same_bits(read.weight("fc.weight"), model.weight("fc.weight")));
  EXPECT_TRUE(same_bits(read.weight("fc.bias"), Tensor({3}, {1, 2, 3})));
}

TEST_F(OnnxWeightsOfFiles, KeepTheFloatingPointTypesOfTheFile) {
  const std::vector<float> numbers{1, -0.5f, 65504, 0x1p-24f, 0x1p-14f, 0, 1.0009765625f, -3};
  const Tensor weight({8}, std::span<const float>(numbers));
  for (const auto& [type, size] : {std::pair(10, 2), std::pair(11, 8)}) {
    OnnxBytes bytes = perceptron();
    bytes.graph_field(
        wire_bytes(5, wire_integer(1, 8) + wire_integer(2, type) + wire_bytes(8, "w") +
                          wire_bytes(9, std::string(8 * static_cast<std::size_t>(size), '\0'))));
    write_file(from_, bytes.file());
    save_onnx_with_weights(from_, to_, {{"w", weight}});
    EXPECT_TRUE(same_bits(load_onnx_weights(to_).back().tensor, weight));
  }
}

TEST_F(OnnxWeightsOfFiles, AreRoundedToNearestInHalfPrecisionIfTheyAreNotTooLarge) {
  OnnxBytes bytes = perceptron();
  bytes.graph_field(wire_bytes(5, wire_integer(1, 3) + wire_integer(2, 10) + wire_bytes(8, "w") +
                                      wire_bytes(9, std::string(6, '\0'))));
  write_file(from_, bytes.file());
  // The first two lie in the middle between two numbers, of which the even one is taken.
  save_onnx_with_weights(from_, to_, {{"w", Tensor({3}, {2049, 2051, 65519})}});
  EXPECT_TRUE(same_bits(load_onnx_weights(to_).back().tensor, Tensor({3}, {2048, 2052, 65504})));
  EXPECT_NE(refusal(Errc::invalid_argument,
                    [&] {
                      save_onnx_with_weights(from_, to_, {{"w", Tensor({3}, {1, 65520, 1})}});
                    }),
            "accepted");
}

/// Returns files that have a tensor in the file "weights" which is no initializer of the graph,
/// with what has it.
std::vector<std::pair<std::string, std::string>> files_with_other_tensors() {
  const std::string tensor = wire_integer(1, 4) + wire_integer(2, 1) + wire_bytes(8, "w") +
                             wire_integer(14, 1) +
                             wire_bytes(13, wire_bytes(1, "location") + wire_bytes(2, "weights"));
  const std::string sparse = wire_bytes(1, tensor), initializer = wire_bytes(5, tensor);
  const auto with_graph_field = [](const std::string& field) {
    return OnnxBytes(perceptron()).graph_field(field).file();
  };
  const auto with_model_field = [](const std::string& field) {
    return OnnxBytes(perceptron()).model_field(field).file();
  };
  const auto node = [](const std::string& attribute_field) {
    return onnx_node({"Relu", {"x"}, {"z"}}) + wire_bytes(5, wire_bytes(1, "a") + attribute_field);
  };
  const auto with_attribute = [&](const std::string& field) {
    return with_graph_field(wire_bytes(1, node(field)));
  };
  return {
      {"a tensor of a node", with_attribute(wire_bytes(5, tensor))},
      {"tensors of a node", with_attribute(wire_bytes(10, tensor))},
      {"a sparse tensor of a node", with_attribute(wire_bytes(22, sparse))},
      {"sparse tensors of a node", with_attribute(wire_bytes(23, sparse))},
      {"a branch", with_attribute(wire_bytes(6, initializer))},
      {"branches", with_attribute(wire_bytes(11, initializer))},
      {"a node of a branch",
       with_attribute(wire_bytes(6, wire_bytes(1, node(wire_bytes(5, tensor)))))},
      {"a sparse initializer of a branch", with_attribute(wire_bytes(6, wire_bytes(15, sparse)))},
      {"a sparse initializer", with_graph_field(wire_bytes(15, sparse))},
      {"the indices of a sparse initializer",
       with_graph_field(wire_bytes(15, wire_bytes(2, tensor)))},
      {"a function", with_model_field(wire_bytes(
                         25, wire_bytes(1, "F") + wire_bytes(7, node(wire_bytes(5, tensor)))))},
      {"an attribute of a function",
       with_model_field(wire_bytes(
           25, wire_bytes(1, "F") + wire_bytes(11, wire_bytes(1, "a") + wire_bytes(5, tensor))))},
      {"an initialization for training",
       with_model_field(wire_bytes(20, wire_bytes(1, initializer)))},
      {"an algorithm for training", with_model_field(wire_bytes(20, wire_bytes(2, initializer)))}};
}

TEST_F(OnnxWeightsOfFiles, StayBesideTheFileIfTheyAreNotAmongItsInitializers) {
  for (const auto& [what, bytes] : files_with_other_tensors()) {
    write_file(from_, bytes);
    save_onnx_with_weights(from_, to_, {});
    EXPECT_EQ(file_content(to_), file_content(from_)) << what;
    const TemporaryDirectory other;
    const std::string elsewhere = (other / "to.onnx").string();
    EXPECT_NE(refusal(Errc::unsupported, [&] { save_onnx_with_weights(from_, elsewhere, {}); }),
              "accepted")
        << what;
    EXPECT_FALSE(std::filesystem::exists(elsewhere)) << what;
  }
}

TEST_F(OnnxWeightsOfFiles, AreCopiedToAnotherDirectoryWithSparseInitializersInTheFile) {
  OnnxBytes bytes = perceptron();
  bytes.graph_field(wire_bytes(15, wire_bytes(1, wire_bytes(8, "w") + wire_integer(14, 0))));
  write_file(from_, bytes.file());
  const TemporaryDirectory other;
  save_onnx_with_weights(from_, (other / "to.onnx").string(), {});
  EXPECT_EQ(file_content(other / "to.onnx"), file_content(from_));
}

TEST_F(OnnxWeightsOfFiles, AreRefusedUnderOtherNamesAndInOtherShapesAndTypes) {
  const std::string text = refusal(Errc::invalid_argument, [&] {
    save_onnx_with_weights(from_, to_, {{"fc2.bais", Tensor({3}, {1, 2, 3})}});
  });
  EXPECT_NE(text.find("there is no initializer \"fc2.bais\"; did you mean \"fc2.bias\"?"),
            std::string::npos)
      << text;
  for (const Tensor& wrong : {Tensor({2}, {1, 2}), integers({1, 2, 3})})
    EXPECT_NE(refusal(Errc::shape_mismatch,
                      [&] {
                        save_onnx_with_weights(from_, to_, {{"fc2.bias", wrong}});
                      }),
              "accepted");
  EXPECT_FALSE(std::filesystem::exists(to_));
}

}  // namespace
}  // namespace penstock::testing
