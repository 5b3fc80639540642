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

}  // namespace
}  // namespace penstock
