#include "tests/support/textured_images.hpp"

#include <random>

namespace penstock::testing {
namespace {

constexpr int side = 32;

/// Returns whether the texture of class `label` has the first of its two colours at pixel (x, y).
/// The width and the period of the stripes divide the side, so that each colour covers half of the
/// image wherever the texture begins.
bool has_first_colour(int label, int x, int y) {
  const int width = label % 2 == 0 ? 4 : 2;
  const auto stripe = [width](int position) { return position / width % 2 == 0; };
  switch (label / 2) {
    case 0:
      return stripe(x);
    case 1:
      return stripe(y);
    case 2:
      return stripe((x + y) % side);
    case 3:
      return stripe((x - y + side) % side);
    default:
      return stripe(x) != stripe(y);
  }
}

using Colour = std::array<int, 3>;

class Draws {
 public:
  explicit Draws(std::uint64_t seed) : random_(seed) {}
  int below(int limit) { return static_cast<int>(random_() % static_cast<std::uint64_t>(limit)); }
  Colour colour() { return {below(226), below(226), below(226)}; }

 private:
  std::mt19937_64 random_;
};

int distance(const Colour& a, const Colour& b) {
  int sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::abs(a[i] - b[i]);
  return sum;
}

TexturedImage draw_image(int label, Draws& draws) {
  TexturedImage image{.label = label};
  const Colour first = draws.colour();
  Colour second = draws.colour();
  // The second colour is drawn again until it differs clearly from the first one.
  while (distance(first, second) < 150) second = draws.colour();
  const int left = draws.below(side), top = draws.below(side);
  for (int y = 0; y < side; ++y)
    for (int x = 0; x < side; ++x) {
      const bool is_first = has_first_colour(label, (x + left) % side, (y + top) % side);
      const Colour& colour = is_first ? first : second;
      for (int channel = 0; channel < 3; ++channel)
        image.pixels[static_cast<std::size_t>((channel * side + y) * side + x)] =
            static_cast<std::uint8_t>(colour[static_cast<std::size_t>(channel)] + draws.below(30));
    }
  return image;
}

}  // namespace

std::vector<TexturedImage> textured_images(int count, std::uint64_t seed) {
  Draws draws(seed);
  std::vector<TexturedImage> images;
  for (int i = 0; i < count; ++i) images.push_back(draw_image(i % 10, draws));
  return images;
}

std::string cifar10_records(const std::vector<TexturedImage>& images) {
  std::string bytes;
  for (const TexturedImage& image : images) {
    bytes += static_cast<char>(image.label);
    bytes.append(image.pixels.begin(), image.pixels.end());
  }
  return bytes;
}

}  // namespace penstock::testing
