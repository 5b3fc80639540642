#include "engine/datasets/digit_glyphs.hpp"

#include <array>

namespace penstock {

std::span<const Stroke> digit_strokes(int digit) {
  static const std::array<std::vector<Stroke>, 10> digits{{
      {{{.5f, 0}, {.15f, .25f}, {.15f, .75f}, {.5f, 1}, {.85f, .75f}, {.85f, .25f}, {.5f, 0}}},
      {{{.25f, .2f}, {.55f, 0}, {.55f, 1}}},
      {{{.15f, .2f}, {.5f, 0}, {.85f, .25f}, {.6f, .6f}, {.15f, 1}, {.9f, 1}}},
      {{{.15f, .05f}, {.8f, .05f}, {.45f, .4f}, {.85f, .7f}, {.5f, 1}, {.15f, .9f}}},
      {{{.65f, 1}, {.65f, 0}, {.1f, .65f}, {.9f, .65f}}},
      {{{.85f, 0}, {.2f, 0}, {.2f, .45f}, {.7f, .45f}, {.85f, .75f}, {.5f, 1}, {.15f, .9f}}},
      {{{.75f, 0}, {.25f, .5f}, {.2f, .85f}, {.5f, 1}, {.8f, .8f}, {.6f, .55f}, {.25f, .6f}}},
      {{{.1f, 0}, {.9f, 0}, {.4f, 1}}},
      {{{.5f, .45f}, {.2f, .2f}, {.5f, 0}, {.8f, .2f}, {.5f, .45f}},
       {{.5f, .45f}, {.15f, .75f}, {.5f, 1}, {.85f, .75f}, {.5f, .45f}}},
      {{{.8f, .35f}, {.45f, .45f}, {.2f, .25f}, {.45f, 0}, {.8f, .1f}, {.8f, .5f}, {.6f, 1}}},
  }};
  return digits[static_cast<std::size_t>(digit)];
}

}  // namespace penstock
