#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "penstock/dataset.hpp"
#include "tests/support/read_samples.hpp"
#include "tests/support/refusal.hpp"

namespace penstock {
namespace {

using testing::LabelledImage;
using testing::read_image;
using testing::refusal;

Tensor labels(std::vector<std::int64_t> values) {
  return {Shape{static_cast<std::int64_t>(values.size())}, std::span<const std::int64_t>(values)};
}

std::shared_ptr<const Dataset> three_samples() {
  return tensor_dataset({Tensor({3, 2}, {1, 2, 3, 4, 5, 6}), labels({7, 8, 9})});
}

TEST(TensorDataset, GivesRowIOfEveryTensorAsSampleI) {
  const auto dataset = three_samples();
  EXPECT_EQ(dataset->size(), 3);
  EXPECT_EQ(dataset->fields()[0].shape, Shape{2});
  EXPECT_EQ(dataset->fields()[1].shape, Shape{});
  EXPECT_EQ(dataset->fields()[1].dtype, DType::i64);
  EXPECT_EQ(read_image(*dataset, 0), (LabelledImage{{1, 2}, 7}));
  EXPECT_EQ(read_image(*dataset, 2), (LabelledImage{{5, 6}, 9}));
}

TEST(TensorDataset, RefusesTensorsThatDisagree) {
  EXPECT_EQ(refusal(Errc::invalid_data, [] { tensor_dataset({}); }),
            "tensor_dataset: expected at least one tensor, got none");
  EXPECT_EQ(refusal(Errc::shape_mismatch,
                    [] {
                      tensor_dataset({Tensor::zeros(DType::f32, {3, 2}), labels({1, 2})});
                    }),
            "tensor_dataset: tensor 1: expected 3 samples, as tensor 0 has, got [2]");
  EXPECT_EQ(refusal(Errc::shape_mismatch, [] { tensor_dataset({Tensor({}, {1})}); }),
            "tensor_dataset: tensor 0: expected one whose dimension 0 counts the samples, got []");
  EXPECT_EQ(refusal(Errc::shape_mismatch, [] { tensor_dataset({Tensor()}); }),
            "tensor_dataset: tensor 0: expected one whose dimension 0 counts the samples, got an "
            "empty one");
}

TEST(TensorDataset, CallsItsFieldsAsItIsTold) {
  const std::vector<Tensor> tensors{Tensor({3, 2}, {1, 2, 3, 4, 5, 6}), labels({7, 8, 9})};
  EXPECT_EQ(tensor_dataset(tensors)->fields()[1].name, "");
  const auto named = tensor_dataset(tensors, {"x", "label"});
  EXPECT_EQ(named->fields()[0].name, "x");
  EXPECT_EQ(named->fields()[1].name, "label");
  EXPECT_EQ(read_image(*named, 1), (LabelledImage{{3, 4}, 8}));
  const auto refused = [&](const std::vector<std::string>& names) {
    return refusal(Errc::invalid_argument, [&] { tensor_dataset(tensors, names); });
  };
  EXPECT_EQ(refused({"x"}), "tensor_dataset: expected a name for each of 2 tensors, got 1");
  EXPECT_EQ(refused({"x", ""}), "tensor_dataset: expected names of one letter or more, got \"\"");
  EXPECT_EQ(refused({"x", "x"}), "tensor_dataset: expected different names, got \"x\" twice");
}

TEST(TensorDataset, KeepsElementsOfEveryType) {
  const std::vector<std::uint8_t> bytes{1, 2, 3, 4, 5, 6};
  const auto dataset = tensor_dataset({Tensor({3, 2}, bytes)});
  EXPECT_EQ(dataset->fields()[0].dtype, DType::u8);
  std::uint8_t row[2] = {};
  std::byte* const destination = reinterpret_cast<std::byte*>(row);
  dataset->read({.index = 2}, {&destination, 1});
  EXPECT_EQ(row[0], 5);
  EXPECT_EQ(row[1], 6);
}

TEST(FirstSamples, AreThoseOfTheOtherDataset) {
  const auto two = first_samples(three_samples(), 2);
  EXPECT_EQ(two->size(), 2);
  EXPECT_EQ(two->fields().size(), 2u);
  EXPECT_EQ(read_image(*two, 1), (LabelledImage{{3, 4}, 8}));
}

TEST(FirstSamples, RefuseMoreThanThereAre) {
  EXPECT_EQ(refusal(Errc::invalid_data, [] { first_samples(three_samples(), 4); }),
            "first_samples: expected at least 4 samples, the dataset has 3");
  EXPECT_EQ(refusal(Errc::invalid_argument, [] { first_samples(three_samples(), -1); }),
            "first_samples: expected a count of 0 or more, got -1");
  EXPECT_EQ(refusal(Errc::invalid_argument, [] { first_samples(nullptr, 1); }),
            "first_samples: expected a dataset, got none");
}

}  // namespace
}  // namespace penstock
