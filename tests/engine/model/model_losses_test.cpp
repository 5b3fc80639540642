#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "tests/engine/model/layer_case.hpp"
#include "tests/support/refusal.hpp"

namespace penstock {
namespace {

using testing::ModelLayers;
using testing::ops_of;
using testing::refusal;
using Case = testing::LayerCase;
using Inputs = testing::LayerInputs;

/// Returns a constant with a weight for each of 6 classes.
Value six(Model& model) {
  return model.constant("six", Tensor({6}, {1.0f, 2.0f, 0.5f, 1.0f, 3.0f, 0.25f}));
}

const std::vector<Case> losses{
    {"cross_entropy",
     [](Model& m, const Inputs& in) {
       return m.cross_entropy(
           in.features, in.labels,
           {.reduction = LossReduction::none, .label_smoothing = 0.1, .ignore_index = 7});
     },
     {1},
     {{"reduction", "none"},
      {"label_smoothing", 0.1},
      {"ignore_index", std::int64_t{7}},
      {"class_axis", std::int64_t{1}}}},
    {"cross_entropy",
     [](Model& m, const Inputs& in) {
       return m.cross_entropy(in.matrix, m.input("ids", {3}, DType::i64), {.class_axis = -1});
     },
     {},
     {{"reduction", "mean"},
      {"label_smoothing", 0.0},
      {"ignore_index", std::int64_t{-100}},
      {"class_axis", std::int64_t{-1}}}},
    {"nll_loss",
     [](Model& m, const Inputs& in) { return m.nll_loss(in.features, in.labels); },
     {},
     {{"reduction", "mean"},
      {"ignore_index", std::int64_t{-100}},
      {"class_axis", std::int64_t{1}}}},
    {"nll_loss",
     [](Model& m, const Inputs& in) {
       return m.nll_loss(in.features, in.labels, LossReduction::none, -100, 1, six(m));
     },
     {1},
     {{"reduction", "none"}, {"ignore_index", std::int64_t{-100}}, {"class_axis", std::int64_t{1}}},
     {{"six", {6}, false}}},
    {"cross_entropy",
     [](Model& m, const Inputs& in) {
       return m.cross_entropy(in.features, in.labels, {.weight = six(m)});
     },
     {},
     {{"reduction", "mean"},
      {"label_smoothing", 0.0},
      {"ignore_index", std::int64_t{-100}},
      {"class_axis", std::int64_t{1}}},
     {{"six", {6}, false}}},
    {"huber_loss",
     [](Model& m, const Inputs& in) {
       return m.huber_loss(in.features, in.features, {.delta = 0.5});
     },
     {},
     {{"reduction", "mean"}, {"delta", 0.5}}},
    {"gaussian_nll_loss",
     [](Model& m, const Inputs& in) {
       return m.gaussian_nll_loss(in.features, in.features, in.features,
                                  {.full = true, .eps = 0.5});
     },
     {},
     {{"reduction", "mean"}, {"full", std::int64_t{1}}, {"eps", 0.5}}},
    {"gaussian_nll_loss",
     [](Model& m, const Inputs& in) {
       return m.gaussian_nll_loss(in.features, in.features, m.input("variance", {1}),
                                  {.reduction = LossReduction::none});
     },
     {1, 6},
     {{"reduction", "none"}, {"full", std::int64_t{0}}, {"eps", 1e-6}}},
    {"multi_margin_loss",
     [](Model& m, const Inputs& in) {
       return m.multi_margin_loss(in.features, in.labels,
                                  {.margin = 0.5, .p = 2, .weight = six(m)});
     },
     {},
     {{"reduction", "mean"}, {"margin", 0.5}, {"p", std::int64_t{2}}},
     {{"six", {6}, false}}},
    {"multilabel_margin_loss",
     [](Model& m, const Inputs& in) {
       return m.multilabel_margin_loss(in.features, m.input("classes", {6}, DType::i64),
                                       LossReduction::sum);
     },
     {},
     {{"reduction", "sum"}}},
    {"identity_loss",
     [](Model& m, const Inputs& in) {
       return m.binary_cross_entropy(in.features, in.features, LossReduction::sum, six(m));
     },
     {},
     {{"reduction", "sum"}},
     {{"six", {6}, false}}},
    {"identity_loss",
     [](Model& m, const Inputs& in) {
       return m.binary_cross_entropy_with_logits(in.features, in.features, LossReduction::none, {},
                                                 six(m));
     },
     {1, 6},
     {{"reduction", "none"}},
     {{"six", {6}, false}}},
    {"mse_loss",
     [](Model& m, const Inputs& in) {
       return m.mse_loss(in.features, in.features, LossReduction::sum);
     },
     {},
     {{"reduction", "sum"}}},
    {"l1_loss",
     [](Model& m, const Inputs& in) { return m.l1_loss(in.features, in.features); },
     {},
     {{"reduction", "mean"}}},
    {"smooth_l1_loss",
     [](Model& m, const Inputs& in) {
       return m.smooth_l1_loss(in.features, in.features, {.beta = 0.5});
     },
     {},
     {{"reduction", "mean"}, {"beta", 0.5}}},
    {"binary_cross_entropy",
     [](Model& m, const Inputs& in) { return m.binary_cross_entropy(in.features, in.features); },
     {},
     {{"reduction", "mean"}}},
    {"binary_cross_entropy_with_logits",
     [](Model& m, const Inputs& in) {
       return m.binary_cross_entropy_with_logits(in.features, in.features, LossReduction::none);
     },
     {1, 6},
     {{"reduction", "none"}}},
    {"kl_div_loss",
     [](Model& m, const Inputs& in) {
       return m.kl_div_loss(in.features, in.features, {.log_target = true});
     },
     {},
     {{"reduction", "mean"}, {"log_target", std::int64_t{1}}}},
    {"poisson_nll_loss",
     [](Model& m, const Inputs& in) {
       return m.poisson_nll_loss(in.features, in.features,
                                 {.log_input = false, .full = true, .eps = 0.25});
     },
     {},
     {{"reduction", "mean"},
      {"log_input", std::int64_t{0}},
      {"full", std::int64_t{1}},
      {"eps", 0.25}}},
    {"hinge_embedding_loss",
     [](Model& m, const Inputs& in) { return m.hinge_embedding_loss(in.features, in.features); },
     {},
     {{"reduction", "mean"}, {"margin", 1.0}}},
    {"soft_margin_loss",
     [](Model& m, const Inputs& in) { return m.soft_margin_loss(in.features, in.features); },
     {},
     {{"reduction", "mean"}}},
    {"multilabel_soft_margin_loss",
     [](Model& m, const Inputs& in) {
       return m.multilabel_soft_margin_loss(in.features, in.features, LossReduction::none);
     },
     {1},
     {{"reduction", "none"}}},
    {"cosine_embedding_loss",
     [](Model& m, const Inputs& in) {
       return m.cosine_embedding_loss(in.features, in.features, m.input("near", {}),
                                      {.reduction = LossReduction::none, .margin = -0.5});
     },
     {1},
     {{"reduction", "none"}, {"margin", -0.5}}},
    {"margin_ranking_loss",
     [](Model& m, const Inputs& in) {
       return m.margin_ranking_loss(in.features, in.features, in.features);
     },
     {},
     {{"reduction", "mean"}, {"margin", 0.0}}},
    {"triplet_margin_loss",
     [](Model& m, const Inputs& in) {
       return m.triplet_margin_loss(in.features, in.features, in.features,
                                    {.margin = 2, .p = 1, .eps = 0.5, .swap = true});
     },
     {},
     {{"reduction", "mean"},
      {"margin", 2.0},
      {"p", std::int64_t{1}},
      {"eps", 0.5},
      {"swap", std::int64_t{1}}}},
    {"ctc_loss",
     [](Model& m, const Inputs& in) {
       return m.ctc_loss(in.matrix, m.input("spelled", {4}, DType::i64), m.labels("steps"),
                         m.labels("counts"),
                         {.reduction = LossReduction::sum, .blank = 5, .zero_infinity = true});
     },
     {},
     {{"reduction", "sum"}, {"blank", std::int64_t{5}}, {"zero_infinity", std::int64_t{1}}}},
    {"identity_loss",
     [](Model& m, const Inputs& in) { return m.identity_loss(in.features, LossReduction::none); },
     {1, 6},
     {{"reduction", "none"}}},
};

INSTANTIATE_TEST_SUITE_P(Losses, ModelLayers, ::testing::ValuesIn(losses));

// F5 of docs/reference.md: a model that ends in a softmax is trained from the probabilities.
TEST(ModelCrossEntropy, OfProbabilitiesTakesTheirLogarithmFirst) {
  Model model;
  const Inputs in(model);
  model.cross_entropy(model.softmax(in.features), in.labels, {.from_logits = false});
  EXPECT_EQ(ops_of(model),
            (std::vector<std::string_view>{"softmax", "clipped_log", "cross_entropy"}));
}

TEST(ModelCrossEntropy, RefusedLeavesNothingBehind) {
  Model model;
  const Inputs in(model);
  EXPECT_NE(refusal(Errc::shape_mismatch,
                    [&] { model.cross_entropy(in.matrix, in.labels, {.from_logits = false}); }),
            "accepted");
  EXPECT_TRUE(ops_of(model).empty());
}

TEST(ModelFocalLoss, IsAComposition) {
  Model model;
  const Inputs in(model);
  const Value ce = model.cross_entropy(in.features, in.labels, {.reduction = LossReduction::none});
  model.loss(model.identity_loss(model.pow(1 - model.exp(-ce), 2) * ce));
  EXPECT_EQ(ops_of(model), (std::vector<std::string_view>{"cross_entropy", "scale", "exp", "fill",
                                                          "sub", "pow", "mul", "identity_loss"}));
}

TEST(ModelBinaryCrossEntropy, RefusesWeightsThatDoNotBroadcast) {
  Model model;
  const Inputs in(model);
  EXPECT_EQ(refusal(Errc::shape_mismatch,
                    [&] {
                      model.binary_cross_entropy(in.features, in.features, LossReduction::mean,
                                                 in.matrix);
                    }),
            "binary_cross_entropy: expected a weight that broadcasts to [1,6], got [1,3,6]");
  EXPECT_EQ(refusal(Errc::shape_mismatch,
                    [&] {
                      model.binary_cross_entropy_with_logits(in.features, in.features,
                                                             LossReduction::mean, {}, in.matrix);
                    }),
            "binary_cross_entropy_with_logits: expected a pos_weight that broadcasts to [1,6], got "
            "[1,3,6]");
  EXPECT_TRUE(ops_of(model).empty());
}

}  // namespace
}  // namespace penstock
