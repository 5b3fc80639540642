#include "apps/onnx/summary.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "penstock/penstock.hpp"
#include "tests/support/onnx_bytes.hpp"
#include "tests/support/temporary_directory.hpp"

namespace penstock::testing {
namespace {

/// Returns what is printed about the file at `path`.
std::string summary_of(const std::string& path) {
  ::testing::internal::CaptureStdout();
  onnx_tool::print_summary(path);
  return ::testing::internal::GetCapturedStdout();
}

std::string summary_of(const OnnxBytes& bytes) {
  const TemporaryDirectory directory;
  const std::string path = (directory / "model.onnx").string();
  write_file(path, bytes.file());
  return summary_of(path);
}

/// Returns a network of a linear layer and a relu.
OnnxBytes network() {
  OnnxBytes bytes;
  bytes.input("x", {"batch", 2}).output("y");
  bytes.initializer("weight", Tensor({3, 2}, {1, 2, 3, 4, 5, 6}));
  bytes.node({"Gemm", {"x", "weight"}, {"h"}, {{"transB", std::int64_t{1}}}, "fc"});
  return bytes;
}

TEST(OnnxSummaryText, HasALinePerLayerAndTotals) {
  const std::string text = summary_of(network().node({"Relu", {"h"}, {"y"}, {}, "act"}));
  EXPECT_NE(text.find("operator Gemm 1\noperator Relu 1\nparameters 6 trained, 0 constant\n\n"
                      "layer (op)         output     parameters  cost %\n"
                      "fc (linear)        [batch,3]  6           "),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("\nact (relu)         [batch,3]  0           "), std::string::npos) << text;
  EXPECT_NE(text.find("\ntotal of 2 layers             6           100.0\n"), std::string::npos)
      << text;
}

TEST(OnnxSummaryText, ShortensMetadataBetweenCharacters) {
  // Each of these characters has two bytes. The text has one byte more.
  std::string many, more = "x";
  for (int i = 0; i < 101; ++i) many += "\u00e9", more += "\u00e9";
  const TemporaryDirectory directory;
  const std::string path = (directory / "model.onnx").string();
  Model model;
  model.output("y", model.relu(model.input("x", {2})));
  model.save_onnx(path, {.metadata = {{many, more}, {"short", many.substr(2)}}});
  const std::string text = summary_of(path);
  EXPECT_NE(text.find("metadata " + many.substr(2) + "... " + more.substr(0, 199) + "...\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("metadata short " + many.substr(2) + '\n'), std::string::npos) << text;
}

TEST(OnnxSummaryText, CountsTheRefusedNodesOfAFileThatCannotBeImported) {
  const std::string text = summary_of(network().node({"Dream", {"h"}, {"y"}, {}, "act"}));
  EXPECT_NE(text.find("operator Dream 1, 1 of 1 refused\noperator Gemm 1\nnot importable: ONNX "
                      "file "),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("layer (op)"), std::string::npos) << text;
}

TEST(OnnxSummaryText, TellsTheRefusedNodesOfAnOperatorFromTheOthers) {
  // A sum over the samples is refused, and one over the numbers of each sample is not.
  const std::vector<std::int64_t> samples{0}, numbers{1};
  OnnxBytes bytes = network();
  bytes.node({"ReduceMean", {"h"}, {"a"}, {{"axes", numbers}}, "a"});
  bytes.node({"ReduceMean", {"h"}, {"b"}, {{"axes", samples}}, "b"});
  bytes.node({"ReduceMean", {"a"}, {"y"}, {{"axes", numbers}}, "c"});
  bytes.node({"Dream", {"h"}, {"z"}, {}, "act"}).output("b").output("z");
  const std::string text = summary_of(bytes);
  EXPECT_NE(text.find("operator Dream 1, 1 of 1 refused\noperator Gemm 1\noperator ReduceMean 3, 1 "
                      "of 3 refused\nnot importable: "),
            std::string::npos)
      << text;
}

TEST(OnnxSummaryText, NamesItsOwnCommandAndNoFieldsOfTheLibrary) {
  OnnxBytes open;
  open.input("x", {"batch", "length"}).output("y").node({"Relu", {"x"}, {"y"}, {}, "act"});
  std::string text = summary_of(open);
  EXPECT_NE(text.find("operator Relu 1\nnot importable: "), std::string::npos) << text;
  EXPECT_NE(text.find("of any size; the inputs tell penstock-onnx run what \"length\" is"),
            std::string::npos)
      << text;
  OnnxBytes shaped;
  shaped.input("x", {"batch", 6}).input("shape", {3}, DType::i64).output("y");
  text = summary_of(shaped.node({"Reshape", {"x", "shape"}, {"y"}, {}, "turn"}));
  EXPECT_NE(text.find("operator Reshape 1\nnot importable: "), std::string::npos) << text;
  EXPECT_NE(text.find("; penstock-onnx run is given the value of \"shape\""), std::string::npos)
      << text;
  EXPECT_EQ(text.find("OnnxOptions"), std::string::npos) << text;
}

}  // namespace
}  // namespace penstock::testing
