#include "apps/onnx/summary.hpp"

#include <gtest/gtest.h>

#include <string>

#include "penstock/tensor.hpp"
#include "tests/support/onnx_bytes.hpp"
#include "tests/support/temporary_directory.hpp"

namespace penstock::testing {
namespace {

/// Returns what is printed about the file.
std::string summary_of(const OnnxBytes& bytes) {
  const TemporaryDirectory directory;
  write_file(directory / "model.onnx", bytes.file());
  ::testing::internal::CaptureStdout();
  onnx_tool::print_summary((directory / "model.onnx").string());
  return ::testing::internal::GetCapturedStdout();
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

TEST(OnnxSummaryText, SaysWhatIsUnsupportedOfAFileThatCannotBeImported) {
  const std::string text = summary_of(network().node({"Dream", {"h"}, {"y"}, {}, "act"}));
  EXPECT_NE(text.find("operator Dream 1 unsupported\noperator Gemm 1\nnot importable: ONNX file "),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("layer (op)"), std::string::npos) << text;
}

}  // namespace
}  // namespace penstock::testing
