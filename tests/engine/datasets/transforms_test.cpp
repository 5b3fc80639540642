// E6 of docs/reference.md: these tests check the transforms that are usual for CIFAR-10, on other
// images.
#include "penstock/transforms.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>
#include <set>

#include "penstock/composed_datasets.hpp"
#include "penstock/data_loader.hpp"
#include "tests/support/read_samples.hpp"
#include "tests/support/refusal.hpp"

namespace penstock {
namespace {

using testing::read_image;
using testing::refusal;

using Pixels = std::vector<float>;

/// Returns `count` equal images of two channels of 2x3 pixels, which are 1 to 12. The label of an
/// image is its number.
std::shared_ptr<const Dataset> images(std::int64_t count) {
  Pixels pixels;
  std::vector<std::int64_t> labels;
  for (std::int64_t i = 0; i < count; ++i) {
    for (int pixel = 1; pixel <= 12; ++pixel) pixels.push_back(static_cast<float>(pixel));
    labels.push_back(i);
  }
  return tensor_dataset({Tensor({count, 2, 2, 3}, std::span<const float>(pixels)),
                         Tensor({count}, std::span<const std::int64_t>(labels))});
}

const Pixels as_they_are{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
const Pixels mirrored{3, 2, 1, 6, 5, 4, 9, 8, 7, 12, 11, 10};

TEST(Normalize, E6_TakesEachChannelByItsOwnMeanAndStd) {
  const auto dataset = normalize(images(2), {{1, 7}, {1, 2}});
  EXPECT_EQ(dataset->size(), 2);
  EXPECT_EQ(dataset->fields()[0].shape, (Shape{2, 2, 3}));
  const auto sample = read_image(*dataset, 1);
  EXPECT_EQ(sample.image, (Pixels{0, 1, 2, 3, 4, 5, 0, .5, 1, 1.5, 2, 2.5}));
  EXPECT_EQ(sample.label, 1);
}

TEST(Normalize, E4_OfDigitsIsWhatTheirReaderDoes) {
  const auto by_channel = normalize(synthetic_digits(3, 1, {}), {{0.1307}, {0.3081}});
  EXPECT_EQ(read_image(*by_channel, 2), read_image(*synthetic_digits(3, 1, {0.1307, 0.3081}), 2));
}

TEST(RandomHorizontalFlip, E6_ExchangesLeftAndRightOfAboutHalfTheImages) {
  const auto always = random_horizontal_flip(images(1), {.probability = 1});
  EXPECT_EQ(read_image(*always, 0).image, mirrored);
  const auto never = random_horizontal_flip(images(1), {.probability = 0});
  EXPECT_EQ(read_image(*never, 0).image, as_they_are);
  const auto some = random_horizontal_flip(images(1000), {.seed = 1});
  std::map<Pixels, int> counts;
  for (std::int64_t i = 0; i < 1000; ++i) ++counts[read_image(*some, i).image];
  ASSERT_EQ(counts.size(), 2u);
  EXPECT_NEAR(counts[mirrored], 500, 80);  // Five standard deviations are allowed.
  EXPECT_EQ(counts[mirrored] + counts[as_they_are], 1000);
}

TEST(RandomCrop, E6_TakesEveryWindowOfThePaddedImageEquallyOften) {
  const auto cropped =
      random_crop(images(1800), {.rows = 2, .columns = 3, .padding = 1, .seed = 4});
  EXPECT_EQ(cropped->fields()[0].shape, (Shape{2, 2, 3}));
  std::map<Pixels, int> counts;
  for (std::int64_t i = 0; i < 1800; ++i) ++counts[read_image(*cropped, i).image];
  ASSERT_EQ(counts.size(), 9u);
  // Five standard deviations are allowed.
  for (const auto& [pixels, count] : counts) EXPECT_NEAR(count, 200, 70);
  EXPECT_TRUE(counts.contains(as_they_are));
  // This window is one row higher and one column further left than the image.
  EXPECT_TRUE(counts.contains({0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 7, 8}));
  EXPECT_TRUE(counts.contains({5, 6, 0, 0, 0, 0, 11, 12, 0, 0, 0, 0}));
}

TEST(RandomCrop, E6_MayMakeImagesSmallerOrLarger) {
  const auto smaller = random_crop(images(200), {.rows = 1, .columns = 2});
  EXPECT_EQ(smaller->fields()[0].shape, (Shape{2, 1, 2}));
  std::set<Pixels> windows;
  for (std::int64_t i = 0; i < 200; ++i) windows.insert(read_image(*smaller, i).image);
  EXPECT_EQ(windows,
            (std::set<Pixels>{{1, 2, 7, 8}, {2, 3, 8, 9}, {4, 5, 10, 11}, {5, 6, 11, 12}}));
  const auto larger = random_crop(images(1), {.rows = 4, .columns = 5, .padding = 1});
  EXPECT_EQ(read_image(*larger, 0).image,
            (Pixels{0, 0, 0, 0, 0, 0, 1, 2, 3, 0, 0, 4,  5,  6,  0, 0, 0, 0, 0, 0,
                    0, 0, 0, 0, 0, 0, 7, 8, 9, 0, 0, 10, 11, 12, 0, 0, 0, 0, 0, 0}));
  const auto far = random_crop(images(50), {.rows = 1, .columns = 1, .padding = 4});
  for (std::int64_t i = 0; i < 50; ++i) EXPECT_EQ(read_image(*far, i).image.size(), 2u);
}

std::shared_ptr<const Dataset> augmented(std::uint64_t seed) {
  const auto cropped =
      random_crop(images(101), {.rows = 2, .columns = 3, .padding = 2, .seed = seed});
  return random_horizontal_flip(cropped, {.seed = seed});
}

/// Returns every image that a loader gives in its second and third epoch, by label.
std::map<std::pair<int, std::int64_t>, Pixels> two_epochs(std::uint64_t seed,
                                                          const DataLoaderOptions& options) {
  DataLoader loader(first_samples(augmented(seed), 100), 10, options);
  std::map<std::pair<int, std::int64_t>, Pixels> seen;
  for (int epoch = 0; epoch < 2; ++epoch)
    for (const Batch& batch : loader)
      for (std::size_t row = 0; row < 10; ++row) {
        const auto* first = batch[0].as<float>().data() + 12 * row;
        seen[{epoch, batch[1].as<std::int64_t>()[row]}] = Pixels(first, first + 12);
      }
  return seen;
}

TEST(Transforms, E6_DependOnSeedEpochAndSampleAloneNeverOnWorkersOrOrder) {
  const auto expected = two_epochs(1, {.mode = LoaderMode::sync, .workers = 0});
  ASSERT_EQ(expected.size(), 200u);
  for (const bool shuffle : {false, true})
    for (const int workers : {1, 4})
      EXPECT_EQ(two_epochs(1, {.shuffle = shuffle, .workers = workers}), expected);
  EXPECT_NE(two_epochs(2, {}), expected);
  int same = 0;
  for (std::int64_t i = 0; i < 100; ++i) same += expected.at({0, i}) == expected.at({1, i});
  EXPECT_LT(same, 50);
}

/// A LastRequest has images of four pixels, and keeps the last request for one of them.
struct LastRequest : Dataset {
  std::int64_t size() const override { return 20; }
  const std::vector<Field>& fields() const override { return fields_; }
  void read(const SampleRequest& request, std::span<std::byte* const>) const override {
    last = request;
  }

  mutable SampleRequest last;

 private:
  std::vector<Field> fields_{{"image", DType::f32, {1, 2, 2}}};
};

TEST(Transforms, PassTheWholeRequestOn) {
  const auto dataset = std::make_shared<LastRequest>();
  const std::vector<std::shared_ptr<const Dataset>> wrapped{
      first_samples(dataset, 18),
      normalize(dataset, {{0}, {1}}),
      random_crop(dataset, {.rows = 2, .columns = 2}),
      random_horizontal_flip(dataset),
      concat_datasets({dataset}),
      split_by_counts(dataset, {18, 2}, {.shuffle = false})[0]};
  for (std::size_t i = 0; i < wrapped.size(); ++i) {
    const std::stop_source source;
    float image[4] = {};
    const std::array<std::byte*, 1> destinations{reinterpret_cast<std::byte*>(image)};
    wrapped[i]->read({.index = 17, .epoch = 5, .stop = source.get_token()}, destinations);
    EXPECT_EQ(dataset->last.index, 17) << i;
    EXPECT_EQ(dataset->last.epoch, 5u) << i;
    EXPECT_EQ(dataset->last.stop, source.get_token()) << i;
  }
}

TEST(Transforms, RefuseWhatMakesNoSense) {
  const auto invalid = [](auto&& call) { return refusal(Errc::invalid_argument, call); };
  EXPECT_EQ(invalid([] {
              normalize(images(1), {{1}, {1, 2}});
            }),
            "normalize: expected a mean and a std for each of 2 channels, got 1 and 2");
  EXPECT_EQ(invalid([] {
              normalize(images(1), {{0, 0}, {1, 0}});
            }),
            "normalize: channel 1: std: expected more than 0, got 0");
  EXPECT_EQ(invalid([] {
              normalize(images(1), {{0, 0}, {1, 1e-50}});
            }),
            "normalize: channel 1: std: expected more than 0, got 1e-50, which is 0 in f32");
  EXPECT_EQ(invalid([] {
              normalize(images(1), {{1e300, 0}, {1e300, 1}});
            }),
            "normalize: channel 0: mean: expected -3.4028234663852886e+38 to "
            "3.4028234663852886e+38, got 1e+300");
  EXPECT_EQ(invalid([] { synthetic_digits(1, 1, {.std = 1e-50}); }),
            "normalization: std: expected more than 0, got 1e-50, which is 0 in f32");
  EXPECT_EQ(invalid([] { normalize(nullptr, {}); }), "normalize: expected a dataset, got none");
  EXPECT_EQ(invalid([] { random_crop(images(1), {.rows = 5, .columns = 3, .padding = 1}); }),
            "random_crop.rows: expected 1 to 4, got 5");
  EXPECT_EQ(invalid([] { random_crop(images(1), {.rows = 1, .columns = 0}); }),
            "random_crop.columns: expected 1 to 3, got 0");
  EXPECT_EQ(invalid([] { random_crop(images(1), {.rows = 1, .columns = 1, .padding = -1}); }),
            "random_crop.padding: expected 0 to 1048576, got -1");
  for (const double probability : {-0.1, 1.1, std::nan("")})
    invalid([&] { random_horizontal_flip(images(1), {.probability = probability}); });
  EXPECT_EQ(
      refusal(Errc::shape_mismatch,
              [] {
                random_horizontal_flip(tensor_dataset({Tensor::zeros(DType::f32, {3, 2})}));
              }),
      "random_horizontal_flip: expected f32 or u8 [channels,rows,columns] as first field, got "
      "f32 [2]");
}

}  // namespace
}  // namespace penstock
