#include "engine/images/image_decoders.hpp"
#include "penstock/error.hpp"

namespace penstock {

PixelImage decode_png(std::span<const std::uint8_t>, std::int64_t) {
  throw Error(Errc::unsupported,
              "this build of Penstock cannot read PNG images: install libpng (libpng-dev on Debian "
              "and Ubuntu), then configure, build and install Penstock anew");
}

}  // namespace penstock
