// The compiler refuses the models of these tests, which check the reasons that it gives.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "graph/compile/compile.hpp"
#include "tests/graph/compile/networks_to_compile.hpp"
#include "tests/support/model_builder.hpp"
#include "tests/support/refusal.hpp"

namespace penstock::graph {
namespace {

using testing::ModelBuilder;
using testing::refusal;
using testing::small_network;
using testing::training;

struct Refusal {
  const char* name;
  Graph model;
  CompileRequest request;
  Errc code;
  const char* text;
};

Graph without(void (*remove)(Graph&)) {
  Graph graph = small_network().graph();
  remove(graph);
  return graph;
}

std::vector<Refusal> refusals() {
  CompileRequest nothing = training();
  nothing.batch = 0;
  return {
      {"TrainingWithoutLoss", without([](Graph& g) {
         ModelBuilder model;
         model.linear("fc", model.input("x", {5}), 4);
         g = model.graph();
       }),
       training(), Errc::invalid_model,
       "model \"test\": has no loss, and training needs one: end in a loss such as cross_entropy, "
       "or wrap what should be minimised in identity_loss"},
      {"InferenceWithoutOutput",
       without([](Graph& g) { g.outputs.clear(); }),
       {},
       Errc::invalid_model,
       "model \"test\": has no output, and inference needs one"},
      {"OutputThatIsAnInput",
       without([](Graph& g) { g.outputs[0].value = g.inputs[0]; }),
       {},
       Errc::invalid_model,
       "model \"test\": the output \"y\" is not computed by any layer"},
      {"NoSamples", small_network().graph(), nothing, Errc::invalid_argument,
       "expected at least one sample per micro-batch, got 0"},
      {"UnknownBlock", small_network().graph(), training({{{"A", "Z"}}, {{"B", "C"}}}),
       Errc::invalid_topology,
       "stage 0: there is no block \"Z\"; the model has \"A\", \"B\", \"C\""},
  };
}

class CompileRefuses : public ::testing::TestWithParam<Refusal> {};

TEST_P(CompileRefuses, AndSaysWhy) {
  const Refusal& r = GetParam();
  EXPECT_EQ(refusal(r.code, [&] { compile(r.model, r.request); }), r.text);
}

INSTANTIATE_TEST_SUITE_P(Requests, CompileRefuses, ::testing::ValuesIn(refusals()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace penstock::graph
