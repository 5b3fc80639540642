#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "engine/datasets/transformed.hpp"
#include "engine/images/color_changes.hpp"
#include "graph/values/hosts_thread.hpp"
#include "graph/values/number_range.hpp"
#include "penstock/error.hpp"
#include "penstock/transforms.hpp"

namespace penstock {
namespace {

bool is_always(const FactorRange& range, double factor) {
  return range.low == factor && range.high == factor;
}

class Jittered : public Transformed {
 public:
  Jittered(std::shared_ptr<const Dataset> dataset, const ColorJitter& jitter)
      : Transformed("color_jitter", std::move(dataset), true), jitter_(jitter) {
    const ImageSize& size = image();
    if (size.channels != 1 && size.channels != 3)
      throw Error(Errc::shape_mismatch,
                  "color_jitter: expected images of 1 or 3 channels, got " +
                      to_string(Shape{size.channels, size.rows, size.columns}));
    check_range("brightness", jitter.brightness, {});
    check_range("contrast", jitter.contrast, {});
    check_range("saturation", jitter.saturation, {});
    check_range("hue", jitter.hue, {-0.5, 0.5});
  }

 private:
  static void check_range(const std::string& name, const FactorRange& range,
                          const NumberRange& allowed) {
    check_f32("color_jitter." + name + ".low", range.low, allowed);
    check_f32("color_jitter." + name + ".high", range.high, allowed);
    check_number("color_jitter." + name + ".high", range.high, {.low = range.low});
  }

  void change(const SampleRequest& request, std::byte* bytes) const override {
    const auto elements = static_cast<std::size_t>(image().planes().elements());
    if (image().dtype == DType::f32)
      return jitter(request, {reinterpret_cast<float*>(bytes), elements});
    const std::span pixels(reinterpret_cast<std::uint8_t*>(bytes), elements);
    std::vector<float> numbers(elements);
    std::ranges::transform(pixels, numbers.begin(),
                           [](std::uint8_t pixel) { return static_cast<float>(pixel) / 255; });
    jitter(request, numbers);
    std::ranges::transform(numbers, pixels.begin(), [](float x) {
      return static_cast<std::uint8_t>(std::nearbyint(x * 255));
    });
  }

  void jitter(const SampleRequest& request, std::span<float> numbers) const {
    const auto factors = draw_for_sample("color_jitter", jitter_.seed, request, 0);
    const auto order = draw_for_sample("color_jitter", jitter_.seed, request, 1);
    std::array<int, 4> changes{0, 1, 2, 3};
    for (std::uint32_t i = 3; i > 0; --i) std::swap(changes[i], changes[order[i] % (i + 1)]);
    for (const int change : changes)
      apply(change, factors[static_cast<std::size_t>(change)], numbers);
  }

  void apply(int change, std::uint32_t draw, std::span<float> numbers) const {
    const auto factor = [&](const FactorRange& range) {
      return static_cast<float>(range.low +
                                (range.high - range.low) * (static_cast<double>(draw) * 0x1p-32));
    };
    const bool has_colors = image().channels == 3;
    if (change == 0 && !is_always(jitter_.brightness, 1))
      adjust_brightness(numbers, factor(jitter_.brightness));
    if (change == 1 && !is_always(jitter_.contrast, 1))
      adjust_contrast(numbers, has_colors ? 3 : 1, factor(jitter_.contrast));
    if (change == 2 && has_colors && !is_always(jitter_.saturation, 1))
      adjust_saturation(numbers, factor(jitter_.saturation));
    if (change == 3 && has_colors && !is_always(jitter_.hue, 0))
      adjust_hue(numbers, factor(jitter_.hue));
  }

  ColorJitter jitter_;
};

}  // namespace

std::shared_ptr<const Dataset> color_jitter(std::shared_ptr<const Dataset> dataset,
                                            const ColorJitter& jitter) {
  return on_hosts_thread("color_jitter", [&]() -> std::shared_ptr<const Dataset> {
    return std::make_shared<Jittered>(std::move(dataset), jitter);
  });
}

}  // namespace penstock
