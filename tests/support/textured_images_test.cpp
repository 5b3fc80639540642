#include "tests/support/textured_images.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace penstock::testing {
namespace {

using Features = std::vector<double>;

Features mean_colour(const TexturedImage& image) {
  Features means(3);
  for (std::size_t i = 0; i < image.pixels.size(); ++i) means[i / 1024] += image.pixels[i] / 1024.0;
  return means;
}

Features every_pixel(const TexturedImage& image) {
  return {image.pixels.begin(), image.pixels.end()};
}

Features spread_of_colours(const TexturedImage& image) {
  const Features means = mean_colour(image);
  Features spread(3);
  for (std::size_t i = 0; i < image.pixels.size(); ++i)
    spread[i / 1024] += std::abs(image.pixels[i] - means[i / 1024]) / 1024;
  return spread;
}

double squared_distance(const Features& a, const Features& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

/// Returns for what share of the images of one seed the `features` are nearest to those of their
/// own class, which are a mean over the images of another seed.
double recognised_by(Features (*features)(const TexturedImage&)) {
  std::map<int, Features> means;
  for (const TexturedImage& image : textured_images(2000, 1)) {
    const Features of_image = features(image);
    Features& mean = means.try_emplace(image.label, of_image.size()).first->second;
    for (std::size_t i = 0; i < of_image.size(); ++i) mean[i] += of_image[i] / 200;
  }
  const auto others = textured_images(500, 2);
  const auto right = std::ranges::count_if(others, [&](const TexturedImage& image) {
    const Features of_image = features(image);
    return std::ranges::min_element(means, {}, [&](const auto& mean) {
             return squared_distance(mean.second, of_image);
           })->first == image.label;
  });
  return static_cast<double>(right) / 500;
}

TEST(TexturedImages, AreNotRecognisedByTheirColoursNorByTheMeanOfTheirClass) {
  for (const auto features : {mean_colour, every_pixel, spread_of_colours})
    EXPECT_LT(recognised_by(features), 0.2);  // By chance, a tenth of the images is recognised.
}

TEST(TexturedImages, HaveAsManyOfEachClassAndAreOthersUnderAnotherSeed) {
  const auto images = textured_images(100, 1), others = textured_images(100, 2);
  std::map<int, int> counts;
  for (const TexturedImage& image : images) ++counts[image.label];
  EXPECT_EQ(counts.size(), 10u);
  for (const auto& [label, count] : counts) EXPECT_EQ(count, 10) << label;
  for (std::size_t i = 0; i < images.size(); ++i) EXPECT_NE(images[i].pixels, others[i].pixels);
}

TEST(TexturedImages, AreRecordsOfALabelAndThreePlanes) {
  const auto images = textured_images(3, 1);
  const std::string bytes = cifar10_records(images);
  ASSERT_EQ(bytes.size(), 3u * 3073);
  EXPECT_EQ(bytes[2 * 3073], 2);
  EXPECT_EQ(static_cast<std::uint8_t>(bytes[2 * 3073 + 1]), images[2].pixels[0]);
  EXPECT_EQ(static_cast<std::uint8_t>(bytes[3 * 3073 - 1]), images[2].pixels.back());
}

}  // namespace
}  // namespace penstock::testing
