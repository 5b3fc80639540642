// These tests check which inputs the shape rules refuse, and in which words. Each row of the table
// has one mistake.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "graph/ir/op.hpp"
#include "graph/ops/list.hpp"
#include "penstock/error.hpp"

namespace penstock::graph {
namespace {

using List = std::vector<std::int64_t>;

TensorType f32(Shape shape) {
  return {DType::f32, shape};
}

struct Refused {
  std::string_view op;
  std::vector<TensorType> inputs;
  Attributes attributes;
  std::string text;
  Errc code = Errc::shape_mismatch;
};

void PrintTo(const Refused& refused, std::ostream* stream) {
  *stream << refused.op << ": " << refused.text;
}

class ShapeRules : public ::testing::TestWithParam<Refused> {};

TEST_P(ShapeRules, SayWhatWasExpectedAndWhatCame) {
  const auto& [op, inputs, attributes, text, code] = GetParam();
  try {
    find_op(op).infer(attributes, inputs);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code);
    EXPECT_EQ(error.what(), text);
  }
}

const TensorType image = f32({2, 4, 8, 8}), weight = f32({6, 4, 3, 3});

INSTANTIATE_TEST_SUITE_P(
    Conv2d, ShapeRules,
    ::testing::Values(
        Refused{"conv2d", {image}, {}, "expected 3 inputs (x, weight, bias), got 1"},
        Refused{"conv2d", {f32({4, 8, 8}), weight}, {}, "expected x of rank 4, got f32[4,8,8]"},
        Refused{"conv2d",
                {{DType::i64, {2, 4, 8, 8}}, weight},
                {},
                "expected x of type f32, got i64[2,4,8,8]"},
        Refused{"conv2d", {image, f32({6, 4, 9})}, {}, "expected weight of rank 4, got f32[6,4,9]"},
        Refused{"conv2d", {image, f32({6, 5, 3, 3})}, {}, "expected 5 input channels, got 4"},
        Refused{"conv2d", {image, weight, f32({4})}, {}, "expected bias of shape [6], got [4]"},
        Refused{"conv2d",
                {image, weight, {DType::i64, {6}}},
                {},
                "expected bias of type f32, got i64[6]"},
        Refused{"conv2d",
                {image, f32({6, 1, 3, 3})},
                {{"groups", 3}},
                "expected a number of input channels that divides into 3 groups, got 4"},
        Refused{"conv2d",
                {image, f32({5, 2, 3, 3})},
                {{"groups", 2}},
                "expected a number of output channels that divides into 2 groups, got 5"},
        Refused{"conv2d", {image, weight}, {{"groups", 0}}, "expected groups of at least 1, got 0"},
        Refused{"conv2d", {image, weight}, {{"stride", 0}}, "expected stride of at least 1, got 0"},
        Refused{"conv2d",
                {image, weight},
                {{"stride", List{1, -2}}},
                "expected stride of at least 1, got -2"},
        Refused{"conv2d",
                {image, weight},
                {{"stride", List{1, 1, 1}}},
                "expected stride of one or two integers, got 3"},
        Refused{
            "conv2d", {image, weight}, {{"padding", -1}}, "expected padding of at least 0, got -1"},
        Refused{"conv2d",
                {image, weight},
                {{"padding", std::int64_t{1} << 40}},
                "expected padding of at most 1073741824, got 1099511627776"},
        Refused{
            "conv2d", {image, weight}, {{"dilation", 0}}, "expected dilation of at least 1, got 0"},
        Refused{"conv2d",
                {image, weight},
                {{"dilation", List{1, 5}}, {"padding", 1}},
                "expected a kernel no larger than the padded input 10x10, got 3x11"},
        Refused{"conv2d", {image, f32({6, 4, 0, 3})}, {}, "expected kernel of at least 1, got 0"}));

std::vector<Refused> refused_by_pooling(std::string_view op) {
  return {
      {op, {image, image}, {{"kernel", 2}}, "expected 1 input (x), got 2"},
      {op, {f32({4, 8})}, {{"kernel", 2}}, "expected x of rank 4, got f32[4,8]"},
      {op,
       {f32({2, 4, 0, 8})},
       {{"kernel", 2}},
       "expected x with at least one element, got f32[2,4,0,8]"},
      {op, {image}, {}, "expected kernel of at least 1, got 0"},
      {op, {image}, {{"kernel", 2}, {"stride", 0}}, "expected stride of at least 1, got 0"},
      {op,
       {image},
       {{"kernel", List{9, 2}}},
       "expected a kernel no larger than the padded input 8x8, got 9x2"},
      {op,
       {image},
       {{"kernel", List{4, 2}}, {"padding", 2}},
       "expected padding of at most half the kernel, which is 2, got 2"},
  };
}

INSTANTIATE_TEST_SUITE_P(MaxPool2d, ShapeRules,
                         ::testing::ValuesIn(refused_by_pooling("max_pool2d")));
INSTANTIATE_TEST_SUITE_P(AvgPool2d, ShapeRules,
                         ::testing::ValuesIn(refused_by_pooling("avg_pool2d")));

INSTANTIATE_TEST_SUITE_P(
    OtherOps, ShapeRules,
    ::testing::Values(
        Refused{"max_pool2d",
                {f32({1, 1, 5000, 5000})},
                {{"kernel", 5000}},
                "expected a kernel of at most 16777216 cells, got 25000000"},
        Refused{"global_avg_pool2d", {f32({4, 8})}, {}, "expected x of rank 4, got f32[4,8]"},
        Refused{"global_avg_pool2d",
                {f32({4, 8, 0, 3})},
                {},
                "expected x with at least one element, got f32[4,8,0,3]"},
        Refused{"linear", {f32({5, 7}), f32({3, 6})}, {}, "expected 6 input features, got 7"},
        Refused{"linear", {f32({5, 6, 7}), f32({3, 6})}, {}, "expected 6 input features, got 7"},
        Refused{"linear", {f32({7}), f32({3, 7})}, {}, "expected x of rank 2 or more, got f32[7]"},
        Refused{"linear",
                {f32({5, 7}), f32({3, 7}), f32({7})},
                {},
                "expected bias of shape [3], got [7]"},
        Refused{"attention",
                {f32({2, 5, 8}), f32({2, 5, 8})},
                {},
                "expected 3 inputs (q, k, v), got 2"},
        Refused{"attention",
                {f32({2, 5, 8}), f32({3, 5, 8}), f32({3, 5, 8})},
                {},
                "expected q, k and v with the same leading dimensions, got [2,5,8] and [3,5,8]"},
        Refused{"attention",
                {f32({2, 5, 8}), f32({2, 5, 6}), f32({2, 5, 6})},
                {},
                "expected k with 8 features, as q has, got f32[2,5,6]"},
        Refused{"attention",
                {f32({2, 5, 8}), f32({2, 6, 8}), f32({2, 5, 8})},
                {},
                "expected v with 6 rows, as k has, got f32[2,5,8]"},
        Refused{"attention",
                {f32({2, 5, 8}), f32({2, 6, 8}), f32({2, 6, 8})},
                {{"causal", 1}},
                "expected as many keys as queries for a causal attention, got 6 and 5"},
        Refused{"attention",
                {f32({2, 5, 8}), f32({2, 5, 8}), f32({2, 5, 8})},
                {{"heads", 3}},
                "expected q with a multiple of 3 features, got f32[2,5,8]"},
        Refused{"attention",
                {f32({2, 5, 8})},
                {{"heads", 2}},
                "expected qkv with a multiple of 6 features, got f32[2,5,8]"},
        Refused{"attention", {f32({2, 5, 6})}, {{"heads", 0}}, "expected 1 head or more, got 0"},
        Refused{"sum", {f32({5, 7})}, {{"axes", List{2}}}, "expected axis from -2 to 1, got 2"},
        Refused{"sum",
                {f32({5, 7})},
                {{"axes", List{1, -1}}},
                "expected each axis once, got axis -1 twice"},
        Refused{"amax",
                {f32({5, 0})},
                {{"axes", List{1}}},
                "expected x with at least one element, got f32[5,0]"},
        Refused{"expand",
                {f32({5})},
                {{"shape", List{4}}},
                "expected x that broadcasts to [4], got [5]"},
        Refused{"expand",
                {f32({5})},
                {{"shape", List{-1, 5}}},
                "expected a dimension of x to keep at position 0, got x [5]"},
        Refused{"prod",
                {f32({5, 7})},
                {{"axes", List{1, 1}}},
                "expected each axis once, got axis 1 twice"},
        Refused{"prod_gradient",
                {f32({5, 7}), f32({7})},
                {{"axes", List{1}}},
                "expected dy of shape [5], got [7]"},
        Refused{"logsumexp",
                {f32({5, 0})},
                {{"axes", List{1}}},
                "expected x with at least one element, got f32[5,0]"},
        Refused{
            "vector_norm", {f32({5})}, {{"axes", List{1}}}, "expected axis from -1 to 0, got 1"},
        Refused{"cumsum", {f32({5, 7})}, {{"axis", 2}}, "expected axis from -2 to 1, got 2"},
        Refused{"argmax", {f32({5, 7})}, {{"axis", -3}}, "expected axis from -2 to 1, got -3"},
        Refused{"argmin",
                {f32({5, 0})},
                {{"axis", 1}},
                "expected x with at least one element, got f32[5,0]"},
        Refused{"sort",
                {f32({5, 7})},
                {{"axis", 1}, {"count", 8}},
                "expected a count from 0 to 7 along axis 1 of x [5,7], got 8"},
        Refused{"channel_sum", {f32({5})}, {}, "expected x of rank 2 or more, got f32[5]"},
        Refused{"channel_sum", {f32({5, 7})}, {{"axis", 2}}, "expected axis from -2 to 1, got 2"},
        Refused{"matmul", {f32({5, 7})}, {}, "expected 2 inputs (a, b), got 1"},
        Refused{"matmul", {f32({7}), f32({7, 5})}, {}, "expected a of rank 2 or more, got f32[7]"},
        Refused{"matmul",
                {f32({2, 5, 7}), f32({3, 7, 4})},
                {},
                "expected a and b with leading dimensions that broadcast, got [2,5,7] and [3,7,4]"},
        Refused{"matmul", {f32({5, 7}), f32({5, 7})}, {}, "expected b with 7 rows, got 5"},
        Refused{"matmul",
                {f32({5, 7}), f32({7, 5})},
                {{"transpose_a", 1}},
                "expected b with 5 rows, got 7"}));

const TensorType lanes = f32({2, 4, 8, 8, 16});

INSTANTIATE_TEST_SUITE_P(
    Lanes, ShapeRules,
    ::testing::Values(
        Refused{"to_lanes", {f32({4})}, {}, "expected x of rank 2 or more, got f32[4]"},
        Refused{"from_lanes",
                {f32({2, 4, 8})},
                {{"batch", 20}},
                "expected x with 16 lanes in the last dimension, got f32[2,4,8]"},
        Refused{"from_lanes",
                {lanes},
                {{"batch", 16}},
                "expected a batch that fills 2 blocks of 16, got 16"},
        Refused{"from_lanes",
                {lanes},
                {{"batch", 33}},
                "expected a batch that fills 2 blocks of 16, got 33"},
        Refused{"conv2d_lanes", {image, weight}, {}, "expected x of rank 5, got f32[2,4,8,8]"},
        Refused{"conv2d_lanes",
                {f32({2, 4, 8, 8, 8}), weight},
                {},
                "expected x with 16 lanes in the last dimension, got f32[2,4,8,8,8]"},
        Refused{"conv2d_lanes", {lanes, f32({6, 5, 3, 3})}, {}, "expected 5 input channels, got 4"},
        Refused{
            "conv2d_lanes", {lanes, weight, f32({4})}, {}, "expected bias of shape [6], got [4]"},
        Refused{"conv2d_lanes", {lanes, weight}, {{"stride", 2}}, "expected stride 1, got 2x2"},
        Refused{"conv2d_lanes",
                {lanes, weight},
                {{"dilation", List{1, 2}}},
                "expected dilation 1, got 1x2"},
        Refused{"conv2d_lanes", {lanes, weight}, {{"groups", 2}}, "expected groups 1, got 2"},
        Refused{"conv2d_lanes",
                {lanes, f32({6, 4, 9, 3})},
                {},
                "expected a kernel no larger than the padded input 8x8, got 9x3"},
        Refused{
            "max_pool2d_lanes", {image}, {{"kernel", 2}}, "expected x of rank 5, got f32[2,4,8,8]"},
        Refused{"max_pool2d_lanes", {lanes}, {}, "expected kernel of at least 1, got 0"},
        Refused{"max_pool2d_lanes",
                {f32({1, 1, 20, 20, 16})},
                {{"kernel", 17}},
                "expected a kernel of at most 256 cells, got 289"}));

const TensorType scores = f32({6, 10}), labels{DType::i64, {6}}, ten = f32({10});

INSTANTIATE_TEST_SUITE_P(
    ActivationsAndSoftmaxes, ShapeRules,
    ::testing::Values(
        Refused{"gelu", {scores, scores}, {}, "expected 1 input (x), got 2"},
        Refused{"tanh", {labels}, {}, "expected x of type f32, got i64[6]"},
        Refused{"sigmoid_gradient", {scores, ten}, {}, "expected dy of shape [6,10], got [10]"},
        Refused{"softmax", {scores}, {{"axis", 2}}, "expected axis from -2 to 1, got 2"},
        Refused{"log_softmax", {scores}, {{"axis", -3}}, "expected axis from -2 to 1, got -3"},
        Refused{"softmax", {f32({})}, {}, "expected x of rank 1 or more, got f32[]"},
        Refused{"causal_mask",
                {f32({2, 3, 4})},
                {},
                "expected the last two dimensions of x to be the same, got [2,3,4]"},
        Refused{"dropout",
                {scores},
                {{"p", 1.5}},
                "expected p from 0 to 1, got 1.5",
                Errc::invalid_argument},
        Refused{"dropout",
                {scores},
                {{"p", std::nan("")}},
                "expected p from 0 to 1, got nan",
                Errc::invalid_argument}));

INSTANTIATE_TEST_SUITE_P(
    Losses, ShapeRules,
    ::testing::Values(
        Refused{"nll_loss", {scores}, {}, "expected 2 inputs (log_probabilities, labels), got 1"},
        Refused{"nll_loss",
                {ten, labels},
                {},
                "expected log_probabilities of rank 2 or more, got f32[10]"},
        Refused{
            "cross_entropy", {scores, scores}, {}, "expected labels of type i64, got f32[6,10]"},
        Refused{"cross_entropy",
                {f32({6, 10, 4}), labels},
                {},
                "expected labels of shape [6,4] for x [6,10,4], whose classes are along axis 1, "
                "got [6]; flatten() before the last linear layer makes scores [N,C]"},
        Refused{"nll_loss",
                {f32({6, 4, 10}), TensorType{DType::i64, {6, 10}}},
                {{"class_axis", -1}},
                "expected labels of shape [6,4] for log_probabilities [6,4,10], whose classes are "
                "along axis 2, got [6,10]"},
        Refused{"cross_entropy",
                {scores, labels},
                {{"class_axis", -2}},
                "expected class_axis to be behind axis 0, which counts samples, got 0"},
        Refused{"cross_entropy",
                {scores, labels},
                {{"class_axis", 2}},
                "expected class_axis from -2 to 1, got 2"},
        Refused{"cross_entropy",
                {scores, labels},
                {{"label_smoothing", -0.1}},
                "expected label_smoothing from 0 to 1, got -0.1",
                Errc::invalid_argument},
        Refused{"mse_loss", {scores, ten}, {}, "expected target of shape [6,10], got [10]"},
        Refused{"identity_loss",
                {scores},
                {{"reduction", "max"}},
                "expected reduction \"mean\", \"sum\" or \"none\", got \"max\"",
                Errc::invalid_argument}));

INSTANTIATE_TEST_SUITE_P(
    Norms, ShapeRules,
    ::testing::Values(
        Refused{"group_norm", {image, f32({4})}, {}, "expected 3 inputs (x, weight, bias), got 2"},
        Refused{"group_norm",
                {image},
                {{"num_groups", 3}},
                "expected channels that form 3 groups of the same size, got 4"},
        Refused{"group_norm",
                {image},
                {{"num_groups", 0}},
                "expected channels that form 0 groups of the same size, got 4"},
        Refused{
            "group_norm", {image, f32({4}), f32({8})}, {}, "expected bias of shape [4], got [8]"},
        Refused{"layer_norm",
                {scores, f32({6})},
                {},
                "expected weight of the shape of x's last axes, got [6] for x [6,10]"},
        Refused{"layer_norm", {scores, ten, f32({6})}, {}, "expected bias of shape [10], got [6]"},
        Refused{"batch_norm2d",
                {scores, ten, ten, ten, ten},
                {},
                "expected x of rank 4, got f32[6,10]"},
        Refused{"batch_norm2d",
                {image, f32({4}), f32({4}), f32({4}), f32({8})},
                {},
                "expected running_var of shape [4], got [8]"},
        Refused{"batch_norm2d",
                {image, f32({4}), f32({4}), f32({4}), f32({4})},
                {{"momentum", 2.0}},
                "expected momentum from 0 to 1, got 2",
                Errc::invalid_argument}));

INSTANTIATE_TEST_SUITE_P(
    Rearranging, ShapeRules,
    ::testing::Values(
        Refused{
            "add", {scores, f32({6})}, {}, "expected shapes that broadcast, got [6,10] and [6]"},
        Refused{"reduce_to",
                {scores},
                {{"shape", List{6}}},
                "expected a shape that broadcasts to [6,10], got [6]"},
        Refused{"reshape",
                {scores},
                {{"shape", List{7, -1}}},
                "expected a shape with 60 elements for x [6,10], got [7,-1]"},
        Refused{"reshape",
                {scores},
                {{"shape", List{std::int64_t{1} << 32, std::int64_t{1} << 32, -1}}},
                "shape: more elements than any machine holds"},
        Refused{"reshape",
                {scores},
                {{"shape", List{-1, -1}}},
                "expected a shape with no negative dimension but one -1, got [-1,-1]"},
        Refused{"reshape",
                {scores},
                {{"shape", List{30, 2, 0}}},
                "expected a dimension of x to keep at position 2, got x [6,10]"},
        Refused{"flatten", {ten}, {}, "expected start_axis from -1 to 0, got 1"},
        Refused{"transpose",
                {scores},
                {{"axes", List{1, 1}}},
                "expected axes to name each axis of x [6,10] once"},
        Refused{"slice",
                {scores},
                {{"axis", 1}, {"begin", 2}, {"end", 11}},
                "expected 0 <= begin <= end <= 10, got begin 2 and end 11"},
        Refused{
            "pad",
            {scores},
            {{"axis", 1}, {"before", -1}},
            "expected 0 elements or more before and after, as many as a tensor can have, got -1 "
            "and 0"},
        Refused{"pad",
                {labels},
                {{"after", 1}, {"value", 0.5}},
                "expected an integer as the value of elements of type i64, got 0.5"},
        Refused{"index_select",
                {scores},
                {{"axis", 1}, {"indices", List{9, 10}}},
                "expected indices from 0 to 9 along axis 1 of x [6,10], got 10"},
        Refused{"gather", {scores, scores}, {}, "expected index of type i64, got f32[6,10]"},
        Refused{"gather", {scores, labels}, {}, "expected index of rank 2, got i64[6]"},
        Refused{"gather",
                {scores, {DType::i64, {7, 2}}},
                {{"axis", 1}},
                "expected index no longer than x [6,10] along axis 0, got [7,2]"},
        Refused{"scatter_add",
                {scores, {DType::i64, {6, 2}}, f32({6, 3})},
                {{"axis", 1}},
                "expected source of shape [6,2], got [6,3]"},
        Refused{"one_hot", {labels}, {}, "expected 1 class or more, got 0"},
        Refused{"one_hot", {ten}, {{"classes", 3}}, "expected ids of type i64, got f32[10]"},
        Refused{"tril", {ten}, {}, "expected x of rank 2 or more, got f32[10]"},
        Refused{"triu", {labels}, {}, "expected x of type f32, got i64[6]"},
        Refused{"concat", {}, {}, "expected 1 input or more, got 0"},
        Refused{"concat", {ten, labels}, {}, "expected input 1 of type f32, got i64[6]"},
        Refused{"concat", {scores, f32({6, 9})}, {}, "expected input 1 of shape [6,10], got [6,9]"},
        Refused{"embedding",
                {scores, labels},
                {{"padding_index", 6}},
                "expected padding_index from 0 to 5, or -1 for none, got 6"},
        Refused{"embedding", {ten, labels}, {}, "expected weight of rank 2, got f32[10]"},
        Refused{"embedding", {scores, scores}, {}, "expected ids of type i64, got f32[6,10]"}));

const TensorType rows = f32({4, 3}), vector = f32({4}), counts{DType::i64, {4}};
const TensorType sequences = f32({4, 5, 3}), spelled{DType::i64, {4, 2}};

INSTANTIATE_TEST_SUITE_P(
    LossesOfPairsAndRows, ShapeRules,
    ::testing::Values(
        Refused{"kl_div_loss", {rows, vector}, {}, "expected target of shape [4,3], got [4]"},
        Refused{"smooth_l1_loss",
                {rows, rows},
                {{"beta", -1.0}},
                "beta: expected 0 or more, got -1",
                Errc::invalid_argument},
        Refused{"poisson_nll_loss",
                {rows, rows},
                {{"eps", std::nan("")}},
                "eps: expected 0 or more, got nan",
                Errc::invalid_argument},
        Refused{"hinge_embedding_loss",
                {rows, rows},
                {{"margin", HUGE_VAL}},
                "margin: expected a finite number, got inf",
                Errc::invalid_argument},
        Refused{"soft_margin_loss",
                {rows, rows},
                {{"reduction", "max"}},
                "expected reduction \"mean\", \"sum\" or \"none\", got \"max\"",
                Errc::invalid_argument},
        Refused{"multilabel_soft_margin_loss",
                {vector, vector},
                {},
                "expected x of rank 2, got f32[4]"},
        Refused{"cosine_embedding_loss",
                {rows, rows, rows},
                {},
                "expected target of shape [4], got [4,3]"},
        Refused{"margin_ranking_loss",
                {rows, rows, vector},
                {},
                "expected target of shape [4,3], got [4]"},
        Refused{"triplet_margin_loss",
                {rows, rows, rows},
                {{"p", std::int64_t{3}}},
                "expected p of 1 or 2, got 3",
                Errc::invalid_argument},
        Refused{"triplet_margin_loss",
                {rows, rows, rows},
                {{"margin", 0.0}},
                "margin: expected more than 0, got 0",
                Errc::invalid_argument},
        Refused{"ctc_loss",
                {rows, spelled, counts, counts},
                {},
                "expected log_probabilities of rank 3, got f32[4,3]"},
        Refused{"ctc_loss",
                {sequences, spelled, counts, {DType::i64, {5}}},
                {},
                "expected counts of shape [4], got [5]"},
        Refused{"ctc_loss",
                {sequences, spelled, counts, counts},
                {{"blank", std::int64_t{3}}},
                "expected blank from 0 to 2, got 3",
                Errc::invalid_argument}));

}  // namespace
}  // namespace penstock::graph
