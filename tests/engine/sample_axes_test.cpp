// These tests make models whose layers take another axis for that of the samples.
#include "engine/sample_axes.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "penstock/custom_op.hpp"
#include "penstock/inference_model.hpp"
#include "penstock/model.hpp"
#include "tests/support/refusal.hpp"

namespace penstock::testing {
namespace {

const std::string unfit = ": expected shapes that broadcast for any number N of samples, got ";
const std::string hint = ", sizes have to be equal or 1, and unsqueeze() adds an axis of 1";

// The parameter's axis 0 would pass for that of the samples if there are one or two of them.
TEST(CheckSampleAxes, RefusesParametersInThePlaceOfSamples) {
  struct Row {
    std::function<Value(Model&, Value x, Value y)> layer;  // x is [N,3,2,4], and y is [N].
    std::string text;
  };
  const auto axes = [](const std::string& value, const std::string& expression) {
    return ", sizes have to be equal or 1; with v for the value of shape " + value + ", " +
           expression + " keeps the samples on axis 0";
  };
  const Row table[] = {
      {[](Model& m, Value, Value y) {
         return m.unsqueeze(y, 1) + m.parameter("p", {2, 3});
       },
       "add \"add_1\"" + unfit + "[N,1] and [2,3]; counted from the last axis" +
           axes("[N,1]", "unsqueeze(v, 1)")},
      {[](Model& m, Value, Value y) {
         return m.parameter("p", {3, 3}) + m.unsqueeze(y, 1);
       },
       "add \"add_1\"" + unfit + "[3,3] and [N,1]; counted from the last axis" +
           axes("[N,1]", "unsqueeze(v, 1)")},
      {[](Model& m, Value, Value y) {
         return m.parameter("p", {2, 3}) - y;
       },
       "sub \"sub_1\"" + unfit + "[2,3] and [N]; counted from the last axis" +
           axes("[N]", "unsqueeze(unsqueeze(v, 1), 1)")},
      {[](Model& m, Value x, Value y) {
         return m.where(m.parameter("p", {3, 1, 1}), y, m.mean(x, {1, 2, 3}, false));
       },
       "where \"where_1\": expected operands of as many axes as the result, for axis 0 counts "
       "samples, got [3,1,1] and [N] and [N]: axis 0 of [N] would lie behind other axes; "
       "[3,1,1] has no axis of samples, and has to have fewer axes than [N], or as many with a "
       "first one of size 1; with v for each value of shape [N], "
       "unsqueeze(unsqueeze(unsqueeze(v, 1), 1), 1) keeps the samples on axis 0"},
      {[](Model& m, Value x, Value) {
         return m.matmul(x, m.mean(m.transpose(x, {0, 1, 3, 2}), {1}, false));
       },
       "matmul \"matmul_1\"" + unfit +
           "[N,3,2,4] and [N,4,2]; counted from the last axis before the matrices" +
           axes("[N,4,2]", "unsqueeze(v, 1)")},
      // No axes of 1 bring the three samples of the parameter to the last axis.
      {[](Model& m, Value, Value y) {
         return m.transpose(m.unsqueeze(y, 1), {1, 0}) + m.parameter("p", {1, 3});
       },
       "add \"add_1\"" + unfit + "[1,N] and [1,3]; counted from the last axis" + hint},
      {[](Model& m, Value, Value y) {
         return m.parameter("p", {2, 1, 1, 1, 1, 1, 1, 1}) + m.reshape(y, {1, 1, 1, 1, 1, 1, 1});
       },
       "add \"add_1\"" + unfit +
           "[2,1,1,1,1,1,1,1] and [N,1,1,1,1,1,1,1]; counted from the last "
           "axis, sizes have to be equal or 1"},
  };
  for (const Row& row : table) {
    Model model("m");
    const Value x = model.input("x", {3, 2, 4}), y = model.input("y", {});
    model.output("out", row.layer(model, x, y));
    for (const int batch : {1, 2, 5})
      EXPECT_EQ(
          refusal(Errc::shape_mismatch, [&] { InferenceModel(model, {.batch_size = batch}); }),
          "model \"m\": " + row.text);
  }
  Model model("m");
  model.output("y", model.input("x", {2, 3}) + model.parameter("p", {2, 3}));
  InferenceModel(model, {.batch_size = 1});
}

// Axes of 1 that kept the samples of one operand on axis 0 would pair each sample with all samples.
TEST(CheckSampleAxes, RefusesSamplesThatDoNotMeet) {
  struct Row {
    std::function<Value(Model&, Value x, Value y)> layer;  // x is [N,1], and y is [N].
    std::string text;
  };
  const auto in_front = [](Model& m, Value x, std::int64_t count, std::int64_t columns) {
    return m.transpose(m.expand(m.unsqueeze(x, 1), {count, columns}), {1, 0, 2});
  };
  const auto pairs = [](const std::string& value, const std::string& expression) {
    return "; counted from the last axis, sizes have to be equal or 1; with v for " + value + ", " +
           expression + " pairs each sample with itself";
  };
  const Row table[] = {
      {[=](Model& m, Value x, Value y) { return in_front(m, x, 5, 3) * y; },
       "mul \"mul_1\"" + unfit + "[5,N,3] and [N]" +
           pairs("the value of shape [N]", "unsqueeze(v, 1)")},
      {[=](Model& m, Value x, Value y) {
         return in_front(m, x, 4, 5) * m.reshape(y, {1, 1});
       },
       "mul \"mul_1\"" + unfit + "[4,N,5] and [N,1,1]" +
           pairs("the value of shape [N,1,1]", "transpose(v, {1, 0, 2})")},
      {[](Model& m, Value x, Value) {
         return m.transpose(m.expand(x, {3}), {1, 0}) * x;
       },
       "mul \"mul_1\"" + unfit + "[3,N] and [N,1]" +
           pairs("the value of shape [N,1]", "transpose(v, {1, 0})")},
      {[](Model& m, Value x, Value) {
         return x * m.transpose(m.expand(x, {3}), {1, 0});
       },
       "mul \"mul_1\"" + unfit + "[N,1] and [3,N]" +
           pairs("the value of shape [N,1]", "transpose(v, {1, 0})")},
      {[=](Model& m, Value x, Value y) { return m.where(y, m.neg(y), in_front(m, x, 5, 3)); },
       "where \"where_1\"" + unfit + "[N] and [N] and [5,N,3]" +
           pairs("each value of shape [N]", "unsqueeze(v, 1)")},
      // The samples of the condition and of the longest operand are on axis 0.
      {[](Model& m, Value x, Value y) { return m.where(y, m.neg(y), m.expand(x, {4})); },
       "where \"where_1\"" + unfit +
           "[N] and [N] and [N,4]; counted from the last axis, sizes have to be equal or 1; with v "
           "for each value of shape [N], unsqueeze(v, 1) keeps the samples on axis 0"},
      // Axes of 1 are missing in values of two shapes.
      {[](Model& m, Value x, Value y) {
         return m.where(y, x, m.expand(m.unsqueeze(x, 1), {3, 4}));
       },
       "where \"where_1\"" + unfit + "[N] and [N,1] and [N,3,4]; counted from the last axis" +
           hint},
  };
  for (const Row& row : table) {
    Model model("m");
    const Value x = model.input("x", {1}), y = model.input("y", {});
    model.output("out", row.layer(model, x, y));
    EXPECT_EQ(refusal(Errc::shape_mismatch, [&] { InferenceModel(model, {.batch_size = 1}); }),
              "model \"m\": " + row.text);
  }
}

// An axis that counts two values of each sample is shown by N, too.
TEST(CheckSampleAxes, AdvisesNoPairsOfSamplesWithTwoValuesOfEach) {
  Model model("m");
  const Value x = model.input("x", {1}), y = model.input("y", {});
  model.output("out", x - model.concat({y, y}, 0));
  const std::string text =
      refusal(Errc::shape_mismatch, [&] { InferenceModel(model, {.batch_size = 1}); });
  EXPECT_NE(text.find("got [N,1] and [N]: axis 0 of [N] would lie behind other axes"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("pairs each sample with itself"), std::string::npos) << text;
}

TEST(CheckSampleAxes, LeavesMatricesOfUnfitRanksToTheLayer) {
  register_op({"test rank of samples",
               [](auto inputs) {
                 const std::int64_t samples = inputs[0][0];
                 return samples == 1 ? Shape{1, 3} : samples == 2 ? Shape{} : Shape{3};
               },
               [](auto, const auto&) {}});
  Model model("m");
  const Value odd = model.custom("test rank of samples", {model.input("x", {3})});
  model.output("y", model.matmul(odd, model.parameter("p", {3, 3})));
  EXPECT_EQ(refusal(Errc::shape_mismatch, [&] { InferenceModel(model, {.batch_size = 1}); }),
            "model \"m\": with 2 samples in a micro-batch, which axis 0 of each input counts: "
            "matmul \"matmul_1\": expected a of rank 2 or more, got f32[]");
}

TEST(CheckSampleAxes, TellsWhatACustomOpRefusesTheFirstTimeOnly) {
  static int calls = 0;
  register_op({"test first refusal",
               [](auto inputs) {
                 if (inputs[0][0] != 1 && calls++ == 0) throw std::runtime_error("not yet");
                 return inputs[0];
               },
               [](auto, const auto&) {}});
  Model model("m");
  const Value x = model.input("x", {3});
  model.output("y", model.custom("test first refusal", {x}) + x);
  EXPECT_EQ(refusal(Errc::shape_mismatch, [&] { InferenceModel(model, {.batch_size = 1}); }),
            "model \"m\": with 2 samples in a micro-batch, which axis 0 of each input counts: "
            "custom_constant \"custom_constant_1\": test first refusal: not yet");
}

TEST(CheckSampleAxes, RefusesALayerThatTakesOneSampleOnly) {
  Model model("m");
  const Value x = model.input("x", {3});
  const Value sum = x + x;
  model.output("y", model.relu(model.concat({sum, model.parameter("p", {1, 2})}, 1)));
  EXPECT_EQ(refusal(Errc::shape_mismatch, [&] { InferenceModel(model, {.batch_size = 1}); }),
            "model \"m\": with 2 samples in a micro-batch, which axis 0 of each input counts: "
            "concat \"concat_1\": expected input 1 of shape [2,2], got [1,2]");
}

// The first layer would put samples behind other axes, and the second takes one sample only.
TEST(CheckSampleAxes, RefusesTheFirstLayerThatMistakesThem) {
  Model model("m");
  const Value x = model.input("x", {1}), y = model.input("y", {});
  model.output("z", model.concat({x - y, model.parameter("p", {1, 2})}, 1));
  EXPECT_EQ(refusal(Errc::shape_mismatch, [&] { InferenceModel(model, {.batch_size = 1}); })
                .find("model \"m\": sub \"sub_1\": expected operands of as many axes"),
            0U);
}

TEST(CheckSampleAxes, RefusesSamplesBehindOtherAxes) {
  struct Row {
    std::function<Value(Model&, Value x, Value y)> layer;  // x is [N,1], and y is [N].
    std::string text;
  };
  const std::string advice = " would lie behind other axes; with v for the value of that shape, ";
  const std::string all =
      " pairs each sample with itself, and transpose(unsqueeze(v, 1), {1, 0}) pairs each sample "
      "with all samples";
  const std::string pairs = advice + "unsqueeze(v, 1)" + all;
  const std::string of_pairs = "[N,1] and [N]: axis 0 of [N]" + pairs;
  const auto no_samples = [](const std::string& longest, const std::string& expression,
                             const std::string& value = "the value") {
    return ": axis 0 of [N,1] would lie behind other axes; " + longest +
           " has no axis of samples, and has to have fewer axes than [N,1], or as many with a "
           "first one of size 1; with v for " +
           value + " of shape [N,1], " + expression + " keeps the samples on axis 0";
  };
  const std::string twice = "unsqueeze(unsqueeze(v, 1), 1)";
  const Row table[] = {
      {[](Model& m, Value x, Value y) { return m.maximum(x, y); },
       "maximum \"maximum_1\" " + of_pairs},
      {[](Model&, Value x, Value y) { return x / y; }, "div \"div_1\" " + of_pairs},
      {[](Model& m, Value x, Value y) { return m.pow(x, y); }, "power \"power_1\" " + of_pairs},
      {[](Model& m, Value x, Value y) { return m.equal(x, y); }, "equal \"equal_1\" " + of_pairs},
      {[](Model& m, Value x, Value y) { return m.less_equal(x, y); },
       "less_equal \"less_equal_1\" " + of_pairs},
      {[](Model&, Value x, Value y) { return x - y; }, "sub \"sub_1\" " + of_pairs},
      {[](Model& m, Value x, Value y) { return m.minimum(x, y); },
       "minimum \"minimum_1\" " + of_pairs},
      {[](Model& m, Value x, Value y) { return m.less(y, x); },
       "less \"less_1\" [N] and [N,1]: axis 0 of [N]" + pairs},
      {[](Model& m, Value x, Value y) { return m.where(m.less(x, x), x, y); },
       "where \"where_1\" [N,1] and [N,1] and [N]: axis 0 of [N]" + pairs},
      // Operands of the same rank do not excuse each other.
      {[](Model& m, Value x, Value y) { return m.where(m.less(y, 20), x, y); },
       "where \"where_1\" [N] and [N,1] and [N]: axis 0 of [N] would lie behind other axes; with v "
       "for each value of that shape, unsqueeze(v, 1)" +
           all},
      // The order of operands of the same rank does not matter.
      {[](Model& m, Value x, Value y) {
         return m.where(m.unsqueeze(x, 1), m.parameter("p", {1, 1, 1}), y);
       },
       "where \"where_1\" [N,1,1] and [1,1,1] and [N]: axis 0 of [N]" + advice + twice + all},
      {[](Model& m, Value x, Value y) {
         return m.where(m.parameter("p", {1, 1, 1}), m.unsqueeze(x, 1), y);
       },
       "where \"where_1\" [1,1,1] and [N,1,1] and [N]: axis 0 of [N]" + advice + twice + all},
      {[](Model& m, Value x, Value) {
         return m.parameter("p", {1, 1, 4}) + m.expand(x, {4});
       },
       "add \"add_1\" [1,1,4] and [N,4]: axis 0 of [N,4] would lie behind other axes; [1,1,4] has "
       "no axis of samples, and has to have fewer axes than [N,4], or as many with a first one of "
       "size 1; with v for the value of shape [N,4], unsqueeze(v, 1) keeps the samples on axis 0"},
      {[](Model& m, Value x, Value) {
         return m.parameter("p", {2, 1, 4}) + m.expand(x, {4});
       },
       "add \"add_1\" [2,1,4] and [N,4]: axis 0 of [N,4] would lie behind other axes; [2,1,4] has "
       "no axis of samples, and has to have fewer axes than [N,4], or as many with a first one of "
       "size 1; with v for the value of shape [N,4], " +
           twice + " keeps the samples on axis 0"},
      {[](Model& m, Value x, Value) {
         return x + m.parameter("p", {2, 1, 1});
       },
       "add \"add_1\" [N,1] and [2,1,1]" + no_samples("[2,1,1]", twice)},
      {[](Model& m, Value x, Value) {
         return m.where(m.parameter("p", {2, 1, 1}), x, m.neg(x));
       },
       "where \"where_1\" [2,1,1] and [N,1] and [N,1]" +
           no_samples("[2,1,1]", twice, "each value")},
      {[](Model& m, Value x, Value) {
         return m.where(m.parameter("p", {2, 1, 1}), m.parameter("q", {3, 1, 1, 1}), x);
       },
       "where \"where_1\" [2,1,1] and [3,1,1,1] and [N,1]" +
           no_samples("[3,1,1,1]", "unsqueeze(" + twice + ", 1)")},
      {[](Model& m, Value x, Value y) {
         const Value turned = m.transpose(m.expand(m.unsqueeze(x, 1), {5, 1}), {1, 0, 2});
         return turned + y;  // The samples of [5,N,1] meet no axis of y [N].
       },
       "add \"add_1\" [5,N,1] and [N]: axis 0 of [N]" + pairs},
      {[](Model& m, Value x, Value y) {
         return m.transpose(m.unsqueeze(x, 1), {1, 0, 2}) + y;
       },
       "add \"add_1\" [1,N,1] and [N]: axis 0 of [N]" + pairs},
      {[](Model& m, Value x, Value y) { return m.unsqueeze(x, 1) + y; },
       "add \"add_1\" [N,1,1] and [N]: axis 0 of [N]" + advice + "unsqueeze(unsqueeze(v, 1), 1)" +
           all},
      {[](Model& m, Value x, Value) {
         return m.transpose(m.unsqueeze(x, 1), {1, 2, 0}) + x;
       },
       "add \"add_1\" [1,1,N] and [N,1]: axis 0 of [N,1]" + advice +
           "transpose(v, {1, 0}) pairs each sample with itself, and transpose(unsqueeze(v, 1), {1, "
           "0, 2}) pairs each sample with all samples"},
      {[](Model& m, Value x, Value) {
         const Value column = m.unsqueeze(x, 1);
         return m.transpose(m.unsqueeze(column, 1), {1, 2, 3, 0}) + column;
       },
       "add \"add_1\" [1,1,1,N] and [N,1,1]: axis 0 of [N,1,1]" + advice +
           "transpose(v, {2, 1, 0}) pairs each sample with itself, and transpose(unsqueeze(v, 1), "
           "{1, 0, 2, 3}) pairs each sample with all samples"},
      // The samples of [1,1,N] meet those of axis 1 of [N,N] already.
      {[](Model& m, Value x, Value) {
         return m.transpose(m.unsqueeze(x, 1), {1, 2, 0}) + m.matmul(x, m.transpose(x, {1, 0}));
       },
       "add \"add_1\" [1,1,N] and [N,N]: axis 0 of [N,N]" + advice +
           "transpose(unsqueeze(v, 1), {1, 0, 2}) pairs each sample with all samples"},
      {[](Model& m, Value x, Value y) {
         return m.binary_cross_entropy_with_logits(x, x, LossReduction::mean, y);
       },
       "mul \"mul_1\" " + of_pairs},
  };
  for (const Row& row : table) {
    Model model("m");
    const Value x = model.input("x", {1}), y = model.input("y", {});
    model.output("out", row.layer(model, x, y));
    const std::size_t name_end = row.text.find("\" ") + 1;
    EXPECT_EQ(refusal(Errc::shape_mismatch, [&] { InferenceModel(model, {.batch_size = 1}); }),
              "model \"m\": " + row.text.substr(0, name_end) +
                  ": expected operands of as many axes as the result, for axis 0 counts samples, "
                  "got" +
                  row.text.substr(name_end));
  }
}

TEST(CheckSampleAxes, LeavesOperandsAloneWhoseSamplesMeetSamples) {
  Model model("m");
  const Value x = model.input("x", {3}), y = model.input("y", {}), z = model.input("z", {2, 3});
  model.output("rows", model.transpose(x, {1, 0}) * y);
  model.output("parameters", x + model.parameter("p", {3}) + 1.0);
  model.output("labels", y - y);
  model.output("pairs", model.sum(model.equal(model.unsqueeze(y, 1),
                                              model.transpose(model.unsqueeze(y, 1), {1, 0})),
                                  {1}));
  // Each sample meets each of four experts; the axes of matrices may count samples.
  model.output("experts",
               model.transpose(model.matmul(x, model.parameter("e", {4, 3, 5})), {1, 0, 2}));
  model.output("steps", model.transpose(z, {1, 0, 2}) * x);
  const Value products = model.matmul(x, model.transpose(x, {1, 0}));  // [N,N]
  model.output("columns", model.where(products, y, model.neg(y)));
  model.output("matrices", model.matmul(z, model.parameter("w", {3, 4})));
  InferenceModel(model, {.batch_size = 1});
}

TEST(CheckSampleAxes, AdvisesWhatPairsSamples) {
  Model model("m");
  const Value x = model.input("x", {1}), y = model.input("y", {});  // [N,1] and [N]
  const Value column = model.unsqueeze(y, 1), row = model.transpose(column, {1, 0});
  const Value turned = model.transpose(model.unsqueeze(x, 1), {1, 0, 2});  // [1,N,1]
  const Value last = model.transpose(model.unsqueeze(x, 1), {1, 2, 0});    // [1,1,N]
  const auto in_front = [&](const Value& of_axis1) { return model.transpose(of_axis1, {1, 0, 2}); };
  model.output("itself", x - column);
  model.output("itself in volumes", model.unsqueeze(x, 1) - model.unsqueeze(column, 1));
  model.output("itself on axis 1", in_front(turned - column));
  const Value many = in_front(model.expand(model.unsqueeze(x, 1), {5, 1}));  // [5,N,1]
  model.output("itself on axis 1 of many", model.mean(in_front(many - column), {1}));
  const Value wide = in_front(model.expand(model.unsqueeze(x, 1), {5, 3}));  // [5,N,3]
  model.output("itself on axis 1 of rows", model.mean(in_front(wide - column), {1, 2}));
  const Value columns = model.transpose(model.expand(x, {3}), {1, 0});  // [3,N]
  model.output("itself on columns", model.mean(model.transpose(columns - row, {1, 0}), {1}));
  model.output(
      "itself behind a condition",
      model.mean(model.where(model.less(column, 0), column, model.expand(x, {4}) - column), {1}));
  model.output("itself on the last axis",
               model.transpose(last - model.transpose(x + x, {1, 0}), {2, 0, 1}));
  model.output("all", model.sum(x - row, {1}));
  model.output("all in volumes", model.sum(model.unsqueeze(x, 1) - row, {1, 2}));
  model.output("all on axis 1", model.sum(in_front(turned - row), {1, 2}));
  model.output("all on the last axis", model.sum(in_front(last - turned), {1, 2}));
  model.output("axes of x", model.unsqueeze(model.unsqueeze(x, 1), 1) -
                                model.constant("long", Tensor({2, 1, 1}, {1, 2})));
  model.output("axes of y", model.constant("wide", Tensor({2, 1}, {1, 2})) +
                                model.unsqueeze(model.unsqueeze(y, 1), 1));
  model.output("matrices of samples",
               model.matmul(model.constant("rows", Tensor({1, 3, 1, 1}, {1, 2, 3})),
                            model.unsqueeze(model.unsqueeze(x, 1), 1)));
  model.output("as many axes", x - model.constant("short", Tensor({1, 1}, {1})));
  InferenceModel inference(model, {.batch_size = 2});
  const StepResult result = inference.run({Tensor({2, 1}, {1, 2}), Tensor({2}, {10, 30})});
  const auto expect = [&](const std::string& output, const std::vector<float>& expected) {
    const auto numbers = result.output(output).as<float>();
    EXPECT_EQ(std::vector<float>(numbers.begin(), numbers.end()), expected) << output;
  };
  for (const std::string name :
       {"itself", "itself in volumes", "itself on axis 1", "itself on axis 1 of many",
        "itself on axis 1 of rows", "itself on columns", "itself behind a condition"})
    expect(name, {-9, -28});
  for (const std::string name : {"all", "all in volumes", "all on axis 1"})
    expect(name, {-38, -36});
  expect("all on the last axis", {1, -1});
  expect("itself on the last axis", {-1, -2});
  expect("axes of x", {0, -1, 1, 0});
  expect("axes of y", {11, 12, 31, 32});
  expect("matrices of samples", {1, 2, 3, 2, 4, 6});
  expect("as many axes", {0, 1});
}

TEST(CheckSampleAxes, RefusesMatricesOfSamplesBehindOtherAxes) {
  Model model("m");
  const Value a = model.input("a", {1, 2, 3}), b = model.input("b", {3, 4});
  model.output("y", model.matmul(a, b));
  EXPECT_EQ(
      refusal(Errc::shape_mismatch, [&] { InferenceModel(model, {.batch_size = 1}); }),
      "model \"m\": matmul \"matmul_1\": expected operands of as many axes as the result, for "
      "axis 0 counts samples, got [N,1,2,3] and [N,3,4]: axis 0 of [N,3,4] would lie behind "
      "other axes; with v for the value of that shape, unsqueeze(v, 1) pairs each sample with "
      "itself, and transpose(unsqueeze(v, 1), {1, 0, 2, 3}) pairs each sample with all samples");
}

}  // namespace
}  // namespace penstock::testing
