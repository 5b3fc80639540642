#include "engine/images/image_decoders.hpp"
#include "penstock/error.hpp"

namespace penstock {

PixelImage decode_jpeg(std::span<const std::uint8_t>, std::int64_t) {
  throw Error(Errc::unsupported,
              "this build of Penstock cannot read JPEG images: install libjpeg (libjpeg-dev on "
              "Debian and Ubuntu), then configure, build and install Penstock anew");
}

}  // namespace penstock
