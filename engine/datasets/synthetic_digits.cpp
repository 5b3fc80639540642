// Each sample is computed from the seed and its index alone, whenever it is read. The points of a
// digit's strokes are displaced at random. Then the digit is slanted, scaled and shifted, and drawn
// with a pen of random width. In the end, noise is added.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "engine/datasets/digit_glyphs.hpp"
#include "engine/datasets/normalizer.hpp"
#include "graph/ir/random.hpp"
#include "graph/values/out_of_memory.hpp"
#include "penstock/dataset.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

constexpr std::int64_t side = 28;
constexpr int digits = 10;

using Pixels = std::array<std::uint8_t, side * side>;

/// SampleDraws are the numbers of a sample's own random sequence, which they return one after the
/// other.
class SampleDraws {
 public:
  SampleDraws(std::uint64_t seed, std::int64_t index)
      : key_{.seed = seed,
             .update = static_cast<std::uint64_t>(index),
             .name = graph::hash_name("synthetic_digits")} {}

  std::uint32_t bits() {
    if (next_ == block_.size()) {
      block_ = graph::philox(key_, blocks_++);
      next_ = 0;
    }
    return block_[next_++];
  }
  float between(float low, float high) { return low + (high - low) * graph::to_unit(bits()); }

 private:
  graph::RandomKey key_;
  std::uint64_t blocks_ = 0;
  std::array<std::uint32_t, 4> block_{};
  std::size_t next_ = block_.size();
};

/// A Placement maps points of the unit square to positions in the image, in pixels.
struct Placement {
  float width, height, slant, left, top;

  explicit Placement(SampleDraws& draws)
      : width(draws.between(10, 15)),
        height(draws.between(15, 20)),
        slant(draws.between(-0.25f, 0.25f)),
        left(draws.between(-2, 2) + (static_cast<float>(side) - width) / 2),
        top(draws.between(-2, 2) + (static_cast<float>(side) - height) / 2) {}

  Point operator()(Point point) const {
    return {left + width * (point.x + slant * (0.5f - point.y)), top + height * point.y};
  }
};

struct LineSegment {
  Point begin, end;
};

/// Returns the square of the distance between a point and the nearest point of a segment.
float squared_distance(Point p, const LineSegment& segment) {
  const float dx = segment.end.x - segment.begin.x, dy = segment.end.y - segment.begin.y;
  const float px = p.x - segment.begin.x, py = p.y - segment.begin.y;
  const float length = std::max(dx * dx + dy * dy, 1e-6f);
  const float t = std::clamp((px * dx + py * dy) / length, 0.0f, 1.0f);
  return (px - t * dx) * (px - t * dx) + (py - t * dy) * (py - t * dy);
}

std::vector<LineSegment> draw_segments(int digit, SampleDraws& draws) {
  const Placement place(draws);
  std::vector<LineSegment> segments;
  for (const Stroke& stroke : digit_strokes(digit)) {
    std::vector<Point> points;
    for (const Point& point : stroke)
      points.push_back(
          place({point.x + draws.between(-0.07f, 0.07f), point.y + draws.between(-0.05f, 0.05f)}));
    for (std::size_t i = 1; i < points.size(); ++i) segments.push_back({points[i - 1], points[i]});
  }
  return segments;
}

Pixels draw_pixels(int digit, SampleDraws& draws) {
  const std::vector<LineSegment> segments = draw_segments(digit, draws);
  const float pen = draws.between(0.9f, 1.7f), ink = draws.between(170, 255);
  Pixels pixels;
  for (std::int64_t i = 0; i < side * side; ++i) {
    const Point center{static_cast<float>(i % side) + 0.5f, static_cast<float>(i / side) + 0.5f};
    float nearest = side * side;
    for (const LineSegment& segment : segments)
      nearest = std::min(nearest, squared_distance(center, segment));
    const float coverage = std::clamp(pen + 0.5f - std::sqrt(nearest), 0.0f, 1.0f);
    const float shade = ink * coverage + draws.between(-20, 20);
    pixels[static_cast<std::size_t>(i)] =
        static_cast<std::uint8_t>(std::clamp(shade, 0.0f, 255.0f));
  }
  return pixels;
}

class SyntheticDigits : public Dataset {
 public:
  SyntheticDigits(std::int64_t count, std::uint64_t seed, const PixelFormat& format)
      : count_(count), seed_(seed), writer_(format) {}

  std::int64_t size() const override { return count_; }
  const std::vector<Field>& fields() const override { return fields_; }

  void read(const SampleRequest& request, std::span<std::byte* const> destinations) const override {
    SampleDraws draws(seed_, request.index);
    const std::int64_t label = draws.bits() % digits;
    writer_.write(draw_pixels(static_cast<int>(label), draws), destinations[0]);
    std::memcpy(destinations[1], &label, sizeof label);
  }

 private:
  std::int64_t count_;
  std::uint64_t seed_;
  PixelWriter writer_;
  std::vector<Field> fields_ = writer_.fields({1, side, side});
};

std::shared_ptr<const Dataset> digits_of(std::int64_t count, std::uint64_t seed,
                                         const PixelFormat& format) {
  return or_out_of_memory("synthetic_digits", [&]() -> std::shared_ptr<const Dataset> {
    if (count < 0)
      throw Error(Errc::invalid_argument,
                  "synthetic_digits: expected a count of 0 or more, got " + std::to_string(count));
    return std::make_shared<SyntheticDigits>(count, seed, format);
  });
}

}  // namespace

std::shared_ptr<const Dataset> synthetic_digits(std::int64_t count, std::uint64_t seed,
                                                const Normalization& normalization) {
  return digits_of(count, seed, normalization);
}

std::shared_ptr<const Dataset> synthetic_digits(std::int64_t count, std::uint64_t seed, AsBytes) {
  return digits_of(count, seed, std::nullopt);
}

}  // namespace penstock
