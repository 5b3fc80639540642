#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <set>
#include <vector>

#include "penstock/dataset.hpp"
#include "tests/support/read_samples.hpp"
#include "tests/support/refusal.hpp"

namespace penstock {
namespace {

using testing::LabelledImage;
using testing::read_image;

TEST(SyntheticDigits, AreDrawnFromSeedAndIndexAlone) {
  const auto some = synthetic_digits(50, 7, {}), more = synthetic_digits(100, 7, {});
  const auto others = synthetic_digits(50, 8, {});
  for (std::int64_t i = 49; i >= 0; --i) {
    EXPECT_EQ(read_image(*some, i), read_image(*more, i)) << i;
    EXPECT_NE(read_image(*some, i).image, read_image(*others, i).image) << i;
  }
}

TEST(SyntheticDigits, HaveTenClassesAndNoTwoImagesAlike) {
  const auto digits = synthetic_digits(1000, 1, {});
  std::array<int, 10> counts{};
  std::set<std::vector<float>> images;
  for (std::int64_t i = 0; i < digits->size(); ++i) {
    const LabelledImage sample = read_image(*digits, i);
    ++counts.at(static_cast<std::size_t>(sample.label));
    images.insert(sample.image);
  }
  EXPECT_EQ(images.size(), 1000u);
  for (const int count : counts) EXPECT_NEAR(count, 100, 40);
}

TEST(SyntheticDigits, AreNormalised) {
  const auto plain = read_image(*synthetic_digits(1, 3, {}), 0).image;
  const auto normalised = read_image(*synthetic_digits(1, 3, {0.5, 0.25}), 0).image;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    EXPECT_GE(plain[i], 0.0f);
    EXPECT_LE(plain[i], 1.0f);
    EXPECT_FLOAT_EQ(normalised[i], (plain[i] - 0.5f) / 0.25f);
  }
}

/// Returns the mean image of each class.
std::array<std::vector<float>, 10> class_means(const Dataset& digits) {
  std::array<std::vector<float>, 10> means;
  std::array<float, 10> counts{};
  means.fill(std::vector<float>(28 * 28));
  for (std::int64_t i = 0; i < digits.size(); ++i) {
    const LabelledImage sample = read_image(digits, i);
    const auto label = static_cast<std::size_t>(sample.label);
    ++counts[label];
    for (std::size_t p = 0; p < sample.image.size(); ++p) means[label][p] += sample.image[p];
  }
  for (std::size_t label = 0; label < means.size(); ++label)
    for (float& pixel : means[label]) pixel /= counts[label];
  return means;
}

std::int64_t nearest(const std::array<std::vector<float>, 10>& means,
                     const std::vector<float>& image) {
  std::int64_t best = -1;
  float least = std::numeric_limits<float>::max();
  for (std::size_t label = 0; label < means.size(); ++label) {
    float distance = 0;
    for (std::size_t p = 0; p < image.size(); ++p)
      distance += (image[p] - means[label][p]) * (image[p] - means[label][p]);
    if (distance < least) best = static_cast<std::int64_t>(label), least = distance;
  }
  return best;
}

TEST(SyntheticDigits, OfAnotherSeedAreRecognisedByTheirClassMeans) {
  const auto means = class_means(*synthetic_digits(1000, 1, {}));
  const auto unseen = synthetic_digits(500, 2, {});
  int right = 0;
  for (std::int64_t i = 0; i < unseen->size(); ++i) {
    const LabelledImage sample = read_image(*unseen, i);
    right += nearest(means, sample.image) == sample.label;
  }
  EXPECT_GT(right, 350);  // A random guess would be right 50 times.
}

TEST(SyntheticDigits, RefuseANegativeCount) {
  EXPECT_EQ(testing::refusal(Errc::invalid_argument, [] { synthetic_digits(-1, 0, {}); }),
            "synthetic_digits: expected a count of 0 or more, got -1");
}

}  // namespace
}  // namespace penstock
