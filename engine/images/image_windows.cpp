#include "engine/images/image_windows.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "graph/ir/random.hpp"
#include "graph/values/number_range.hpp"

namespace penstock {
namespace {

constexpr double longest_side = 65'536;
constexpr std::uint32_t window_attempts = 10;

double uniform_number(std::uint32_t draw, double low, double high) {
  return low + (high - low) * (static_cast<double>(draw) * 0x1p-32);
}

/// Returns one of the numbers from 0 to `most`, of which none has a noticeable advantage.
std::int64_t uniform_place(std::uint32_t draw, std::int64_t most) {
  return static_cast<std::int64_t>(std::uint64_t{draw} * static_cast<std::uint64_t>(most + 1) >>
                                   32);
}

/// Returns half of `number`, which is 0 or more. A half between two numbers becomes the even one.
std::int64_t half_of(std::int64_t number) {
  const std::int64_t half = number / 2;
  return number % 2 == 1 && half % 2 == 1 ? half + 1 : half;
}

/// Returns the largest window in the middle of the image whose proportion `crop` allows.
ImageWindow largest_window(const PlaneSize& image, const RandomResizedCrop& crop) {
  const auto rows = static_cast<double>(image.rows), columns = static_cast<double>(image.columns);
  ImageWindow window{.rows = image.rows, .columns = image.columns};
  if (columns / rows < crop.narrowest)
    window.rows = static_cast<std::int64_t>(std::nearbyint(columns / crop.narrowest));
  else if (columns / rows > crop.widest)
    window.columns = static_cast<std::int64_t>(std::nearbyint(rows * crop.widest));
  window.rows = std::clamp<std::int64_t>(window.rows, 1, image.rows);
  window.columns = std::clamp<std::int64_t>(window.columns, 1, image.columns);
  window.top = (image.rows - window.rows) / 2;
  window.left = (image.columns - window.columns) / 2;
  return window;
}

}  // namespace

void check_result_size(const std::string& subject, std::int64_t rows, std::int64_t columns) {
  check_number(subject + ".rows", static_cast<double>(rows), {1, longest_side});
  check_number(subject + ".columns", static_cast<double>(columns), {1, longest_side});
}

void check_random_resized_crop(const RandomResizedCrop& crop) {
  const std::string subject = "random_resized_crop";
  check_result_size(subject, crop.rows, crop.columns);
  check_number(subject + ".largest_area", crop.largest_area, {0, 1, true});
  check_number(subject + ".smallest_area", crop.smallest_area, {0, crop.largest_area, true});
  check_number(subject + ".widest", crop.widest, {0, 1e6, true});
  check_number(subject + ".narrowest", crop.narrowest, {0, crop.widest, true});
}

ImageWindow center_window(const PlaneSize& image, std::int64_t rows, std::int64_t columns) {
  return {half_of(image.rows - rows), half_of(image.columns - columns), rows, columns};
}

std::pair<std::int64_t, std::int64_t> size_by_shorter_side(const PlaneSize& image,
                                                           std::int64_t shorter_side) {
  const std::int64_t shorter = std::min(image.rows, image.columns);
  return {shorter_side * image.rows / shorter, shorter_side * image.columns / shorter};
}

ImageWindow random_window(const PlaneSize& image, const RandomResizedCrop& crop,
                          const SampleRequest& request) {
  const double area = static_cast<double>(image.rows) * static_cast<double>(image.columns);
  graph::RandomKey key{
      .seed = crop.seed, .update = request.epoch, .name = graph::hash_name("random_resized_crop")};
  for (; key.micro_batch < window_attempts; ++key.micro_batch) {
    const auto draws = graph::philox(key, static_cast<std::uint64_t>(request.index));
    const double wanted = area * uniform_number(draws[0], crop.smallest_area, crop.largest_area);
    const double proportion =
        std::exp(uniform_number(draws[1], std::log(crop.narrowest), std::log(crop.widest)));
    const double columns = std::nearbyint(std::sqrt(wanted * proportion));
    const double rows = std::nearbyint(std::sqrt(wanted / proportion));
    if (!(rows >= 1 && columns >= 1 && rows <= static_cast<double>(image.rows) &&
          columns <= static_cast<double>(image.columns)))
      continue;
    ImageWindow window{.rows = static_cast<std::int64_t>(rows),
                       .columns = static_cast<std::int64_t>(columns)};
    window.top = uniform_place(draws[2], image.rows - window.rows);
    window.left = uniform_place(draws[3], image.columns - window.columns);
    return window;
  }
  return largest_window(image, crop);
}

}  // namespace penstock
