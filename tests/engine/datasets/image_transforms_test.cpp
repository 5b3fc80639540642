// The expected images are those of Pillow and torchvision; tests/tools/pillow_images.py has
// computed them.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "engine/images/image_windows.hpp"
#include "penstock/data_loader.hpp"
#include "penstock/transforms.hpp"
#include "tests/support/drawn_images.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/same_bits.hpp"

namespace penstock {
namespace {

using testing::refusal;

/// Returns a dataset of `count` copies of one image.
std::shared_ptr<const Dataset> copies_of(const Tensor& image, std::int64_t count = 1) {
  const Shape& size = image.shape();
  const auto block =
      std::shared_ptr<std::byte[]>(new std::byte[image.bytes() * static_cast<std::size_t>(count)]);
  for (std::int64_t i = 0; i < count; ++i)
    std::copy_n(image.raw(), image.bytes(),
                block.get() + static_cast<std::size_t>(i) * image.bytes());
  return tensor_dataset(
      {Tensor::wrap(image.dtype(), {count, size[0], size[1], size[2]}, {block, block.get()})});
}

/// Returns the image of a sample.
Tensor image_of(const Dataset& dataset, std::int64_t index = 0, std::uint64_t epoch = 0) {
  const Field& field = dataset.fields()[0];
  const auto block = std::shared_ptr<std::byte[]>(
      new std::byte[static_cast<std::size_t>(field.shape.elements()) * size_of(field.dtype)]);
  const std::array destinations{block.get()};
  dataset.read({.index = index, .epoch = epoch}, destinations);
  return Tensor::wrap(field.dtype, field.shape, {block, block.get()});
}

/// Returns the largest difference of two numbers at the same place, or infinity if the shapes or
/// types differ.
template <class Number>
double largest_difference(const Tensor& a, const Tensor& b) {
  if (a.shape() != b.shape() || a.dtype() != b.dtype()) return INFINITY;
  double largest = 0;
  for (std::size_t i = 0; i < a.as<Number>().size(); ++i) {
    const auto one = static_cast<double>(a.as<Number>()[i]);
    largest = std::max(largest, std::abs(one - static_cast<double>(b.as<Number>()[i])));
  }
  return largest;
}

class ImageTransforms : public ::testing::Test {
 protected:
  /// Returns the image u8 [3,14,21] that the others were made of.
  const Tensor& bytes() const { return images_.tensor("rgb.png: rgb"); }
  /// Returns that image as f32, from 0 to 1.
  Tensor floats() const {
    std::vector<float> numbers;
    for (const std::uint8_t byte : bytes().as<std::uint8_t>())
      numbers.push_back(static_cast<float>(byte) / 255);
    return {bytes().shape(), std::span<const float>(numbers)};
  }

  testing::DrawnImages images_;
};

TEST_F(ImageTransforms, ResizeBytesToTheBitsOfPillow) {
  for (const auto& [rows, columns] : {std::pair{9, 10}, {18, 30}, {14, 40}, {1, 1}, {90, 3}}) {
    const auto dataset = resize(copies_of(bytes()), {.rows = rows, .columns = columns});
    EXPECT_EQ(dataset->fields()[0].shape, (Shape{3, rows, columns}));
    const std::string name = "resized_" + std::to_string(rows) + "x" + std::to_string(columns);
    EXPECT_TRUE(testing::same_bits(image_of(*dataset), images_.tensor(name))) << name;
  }
  const auto same = resize(copies_of(bytes()), {.rows = 14, .columns = 21});
  EXPECT_TRUE(testing::same_bits(image_of(*same), bytes()));
}

TEST_F(ImageTransforms, ResizeNumbersToThoseOfTorchvision) {
  for (const auto& [rows, columns] : {std::pair{9, 10}, {18, 30}}) {
    const auto dataset = resize(copies_of(floats()), {.rows = rows, .columns = columns});
    const std::string name = "f32_resized_" + std::to_string(rows) + "x" + std::to_string(columns);
    EXPECT_LT(largest_difference<float>(image_of(*dataset), images_.tensor(name)), 1e-6) << name;
  }
}

TEST_F(ImageTransforms, CutTheMiddleOutAsTorchvisionDoes) {
  // An image of 14 rows and 21 columns whose shorter side becomes 12 has 12 rows and 18 columns.
  const auto dataset = center_crop(resize(copies_of(bytes()), {.rows = 12, .columns = 18}),
                                   {.rows = 9, .columns = 8});
  EXPECT_TRUE(testing::same_bits(image_of(*dataset), images_.tensor("center")));
  const Tensor whole = image_of(*center_crop(copies_of(floats()), {.rows = 14, .columns = 21}));
  EXPECT_TRUE(testing::same_bits(whole, floats()));
}

TEST(ImageWindows, InTheMiddleAreRoundedAsPythonRoundsThem) {
  const auto top = [](std::int64_t rows, std::int64_t window) {
    return center_window({1, rows, 10}, window, 10).top;
  };
  EXPECT_EQ(top(12, 9), 2);  // 1.5 becomes 2.
  EXPECT_EQ(top(14, 9), 2);  // 2.5 becomes 2.
  EXPECT_EQ(top(10, 9), 0);  // 0.5 becomes 0.
  EXPECT_EQ(top(16, 9), 4);  // 3.5 becomes 4.
  EXPECT_EQ(top(13, 9), 2);
  EXPECT_EQ(size_by_shorter_side({3, 14, 21}, 12), std::pair(std::int64_t{12}, std::int64_t{18}));
  EXPECT_EQ(size_by_shorter_side({3, 37, 10}, 4), std::pair(std::int64_t{14}, std::int64_t{4}));
}

// The image is one whose pixels say where they are: the window of the largest area is all of it.
TEST_F(ImageTransforms, ResizeRandomWindows) {
  const RandomResizedCrop whole{.rows = 9,
                                .columns = 10,
                                .smallest_area = 1,
                                .largest_area = 1,
                                .narrowest = 1.5,
                                .widest = 1.5};
  const auto dataset = random_resized_crop(copies_of(bytes()), whole);
  EXPECT_TRUE(testing::same_bits(image_of(*dataset), images_.tensor("resized_9x10")));
  const Resizing window = Resizing::whole({2, 3, 9, 13}, 8, 8);
  std::vector<std::uint8_t> pixels(3 * 8 * 8);
  resize_image(bytes().as<std::uint8_t>(), {3, 14, 21}, window, pixels.data());
  EXPECT_TRUE(testing::same_bits(Tensor({3, 8, 8}, std::span<const std::uint8_t>(pixels)),
                                 images_.tensor("window")));
}

// The mean of 20,000 windows of torchvision's is 0.48 of the image's area. Five standard deviations
// of the mean of 4000 windows are 0.02.
TEST(ImageWindows, AreDrawnByAreaAndProportion) {
  const PlaneSize image{3, 300, 300};
  double areas = 0, logarithms = 0;
  std::set<std::int64_t> tops;
  for (std::int64_t i = 0; i < 4000; ++i) {
    const ImageWindow window = random_window(image, {}, {.index = i});
    ASSERT_TRUE(window.top >= 0 && window.left >= 0 && window.top + window.rows <= 300 &&
                window.left + window.columns <= 300);
    const double area = static_cast<double>(window.rows * window.columns) / (300.0 * 300);
    const double proportion =
        static_cast<double>(window.columns) / static_cast<double>(window.rows);
    ASSERT_TRUE(area > 0.078 && area <= 1 && proportion > 0.74 && proportion < 1.35);
    areas += area;
    logarithms += std::log(proportion);
    tops.insert(window.top);
  }
  EXPECT_NEAR(areas / 4000, 0.48, 0.02);
  EXPECT_NEAR(logarithms / 4000, 0, 0.02);
  EXPECT_GT(tops.size(), 100u);
}

TEST(ImageWindows, OfImagesWithoutAFittingWindowAreTheLargestInTheMiddle) {
  const auto window = [](std::int64_t rows, std::int64_t columns) {
    const ImageWindow window = random_window({3, rows, columns}, {.smallest_area = 1}, {});
    return std::array{window.top, window.left, window.rows, window.columns};
  };
  EXPECT_EQ(window(10, 100), (std::array<std::int64_t, 4>{0, 43, 10, 13}));
  EXPECT_EQ(window(100, 9), (std::array<std::int64_t, 4>{44, 0, 12, 9}));
  EXPECT_EQ(window(1, 1), (std::array<std::int64_t, 4>{0, 0, 1, 1}));
}

ColorJitter always(const std::string& name) {
  ColorJitter jitter;
  if (name == "brightness") jitter.brightness = {1.4, 1.4};
  if (name == "contrast") jitter.contrast = {0.6, 0.6};
  if (name == "saturation") jitter.saturation = {1.7, 1.7};
  if (name == "hue") jitter.hue = {-0.3, -0.3};
  return jitter;
}

// Pillow computes in bytes, gray with slightly other weights, and hues in 256 steps.
TEST_F(ImageTransforms, ChangeColorsAsTorchvisionAndPillowDo) {
  for (const std::string name : {"brightness", "contrast", "saturation", "hue"}) {
    const Tensor numbers = image_of(*color_jitter(copies_of(floats()), always(name)));
    EXPECT_LT(largest_difference<float>(numbers, images_.tensor(name)), 2e-6) << name;
    const Tensor pixels = image_of(*color_jitter(copies_of(bytes()), always(name)));
    EXPECT_LE(largest_difference<std::uint8_t>(pixels, images_.tensor("pillow_" + name)),
              name == "hue" ? 8 : 2)
        << name;
    EXPECT_GT(largest_difference<std::uint8_t>(pixels, bytes()), 20) << name;
  }
  EXPECT_TRUE(testing::same_bits(image_of(*color_jitter(copies_of(bytes()), {})), bytes()));
  EXPECT_TRUE(testing::same_bits(image_of(*color_jitter(copies_of(floats()), {})), floats()));
}

TEST_F(ImageTransforms, ChangeTheBrightnessAndContrastOfGrayImages) {
  const auto gray = [](float a, float b) { return copies_of(Tensor({1, 1, 2}, {a, b})); };
  const ColorJitter jitter{.contrast = {2, 2}, .saturation = {3, 3}, .hue = {0.5, 0.5}};
  const Tensor image = image_of(*color_jitter(gray(0.375f, 0.625f), jitter));
  EXPECT_EQ(image.as<float>()[0], 0.25f);
  EXPECT_EQ(image.as<float>()[1], 0.75f);
}

TEST_F(ImageTransforms, OfNumbersThatAreNotFiniteHaveNoColors) {
  const float nan = std::nanf(""), infinity = INFINITY;
  for (const auto& color : std::vector<std::array<float, 3>>{{nan, 0.25f, 0.5f},
                                                             {0.25f, nan, 0.5f},
                                                             {0.25f, 0.5f, nan},
                                                             {infinity, 0.25f, 0.5f},
                                                             {0.25f, -infinity, 0.5f},
                                                             {infinity, infinity, infinity},
                                                             {nan, nan, nan}}) {
    // The second pixel is a usual one, which the first one leaves alone.
    const Tensor image({3, 1, 2}, {color[0], 0.25f, color[1], 0.5f, color[2], 0.75f});
    const Tensor changed = image_of(*color_jitter(copies_of(image), always("hue")));
    const auto numbers = changed.as<float>();
    EXPECT_TRUE(std::isnan(numbers[0]) && std::isnan(numbers[2]) && std::isnan(numbers[4]));
    EXPECT_TRUE(std::isfinite(numbers[1] + numbers[3] + numbers[5]));
  }
}

TEST_F(ImageTransforms, DrawUniformFactorsInARandomOrder) {
  const auto dataset = color_jitter(copies_of(Tensor({1, 1, 2}, {0.25f, 0.5f}), 2000),
                                    {.brightness = {0.5, 1.5}, .seed = 3});
  double sum = 0;
  for (std::int64_t i = 0; i < 2000; ++i) {
    const float factor = image_of(*dataset, i).as<float>()[0] * 4;
    ASSERT_TRUE(factor >= 0.5f && factor <= 1.5f);
    sum += factor;
  }
  EXPECT_NEAR(sum / 2000, 1, 0.035);  // Five standard deviations are allowed.
  // Brightness and contrast give another result in another order.
  const auto both = color_jitter(copies_of(Tensor({1, 1, 2}, {0.25f, 0.75f}), 200),
                                 {.brightness = {2, 2}, .contrast = {0.5, 0.5}});
  std::map<float, int> counts;
  for (std::int64_t i = 0; i < 200; ++i) ++counts[image_of(*both, i).as<float>()[0]];
  ASSERT_EQ(counts.size(), 2u);
  EXPECT_NEAR(counts.begin()->second, 100, 36);
}

TEST_F(ImageTransforms, DependOnSeedEpochAndSampleAlone) {
  const auto dataset = [&](std::uint64_t seed) {
    return color_jitter(
        random_resized_crop(copies_of(bytes(), 40), {.rows = 5, .columns = 5, .seed = seed}),
        {.hue = {-0.2, 0.2}, .seed = seed});
  };
  std::vector<Tensor> expected;
  for (std::int64_t i = 0; i < 40; ++i) expected.push_back(image_of(*dataset(1), i, 1));
  for (const int workers : {1, 4}) {
    DataLoader loader(dataset(1), 40, {.workers = workers});
    loader.skip_epochs(1);
    const Batch batch = *loader.next();
    for (std::int64_t i = 0; i < 40; ++i)
      EXPECT_TRUE(testing::same_bits(batch[0].rows(i, i + 1).reshaped({3, 5, 5}),
                                     expected[static_cast<std::size_t>(i)]));
  }
  EXPECT_FALSE(testing::same_bits(image_of(*dataset(1), 0, 0), expected[0]));
  EXPECT_FALSE(testing::same_bits(image_of(*dataset(2), 0, 1), expected[0]));
  EXPECT_FALSE(testing::same_bits(expected[0], expected[1]));
}

TEST_F(ImageTransforms, RefuseWhatMakesNoSense) {
  const auto images = copies_of(bytes());
  const auto invalid = [](auto&& call) { return refusal(Errc::invalid_argument, call); };
  const auto mismatch = [](auto&& call) { return refusal(Errc::shape_mismatch, call); };
  EXPECT_EQ(invalid([&] { resize(images, {.rows = 0}); }),
            "resize.rows: expected 1 to 65536, got 0");
  EXPECT_EQ(invalid([&] { resize(images, {.columns = 65'537}); }),
            "resize.columns: expected 1 to 65536, got 65537");
  EXPECT_EQ(invalid([&] { center_crop(images, {.rows = 15, .columns = 1}); }),
            "center_crop.rows: expected 1 to 14, got 15");
  EXPECT_EQ(invalid([&] { random_resized_crop(images, {.smallest_area = 0}); }),
            "random_resized_crop.smallest_area: expected more than 0 and at most 1, got 0");
  EXPECT_NE(invalid([&] { random_resized_crop(images, {.largest_area = 1.5}); }), "accepted");
  EXPECT_NE(invalid([&] { random_resized_crop(images, {.largest_area = 0.01}); }), "accepted");
  EXPECT_NE(invalid([&] { random_resized_crop(images, {.widest = 0.5}); }), "accepted");
  EXPECT_NE(invalid([&] { random_resized_crop(images, {.narrowest = std::nan("")}); }), "accepted");
  EXPECT_EQ(invalid([&] {
              color_jitter(images, {.contrast = {-1, 2}});
            }),
            "color_jitter.contrast.low: expected 0 or more, got -1");
  EXPECT_NE(invalid([&] { color_jitter(images, {.contrast = {2, 1}}); }), "accepted");
  EXPECT_NE(invalid([&] { color_jitter(images, {.hue = {-0.6, 0}}); }), "accepted");
  const double nan = std::nan("");
  for (const FactorRange& range :
       {FactorRange{nan, 1}, FactorRange{0, nan}, FactorRange{nan, nan}, FactorRange{0, INFINITY}})
    for (FactorRange ColorJitter::*const field : {&ColorJitter::brightness, &ColorJitter::contrast,
                                                  &ColorJitter::saturation, &ColorJitter::hue}) {
      ColorJitter jitter;
      jitter.*field = range;
      EXPECT_NE(invalid([&] { color_jitter(images, jitter); }), "accepted");
    }
  EXPECT_EQ(invalid([] { resize(nullptr, {}); }), "resize: expected a dataset, got none");
  EXPECT_EQ(mismatch([] {
              color_jitter(copies_of(Tensor::zeros(DType::u8, {2, 3, 3})), {});
            }),
            "color_jitter: expected images of 1 or 3 channels, got [2,3,3]");
  EXPECT_EQ(mismatch([] {
              resize(copies_of(Tensor::zeros(DType::u8, {3, 0, 3})), {});
            }),
            "resize: expected images with pixels, got [3,0,3]");
  EXPECT_NE(mismatch([] {
              resize(tensor_dataset({Tensor::zeros(DType::i64, {1, 1, 2, 2})}), {});
            }),
            "accepted");
}

}  // namespace
}  // namespace penstock
