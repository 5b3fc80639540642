#include <gtest/gtest.h>

#include "engine/images/image_decoders.hpp"
#include "penstock/error.hpp"
#include "tests/support/refusal.hpp"

namespace penstock {
namespace {

TEST(ImagesWithoutLibraries, AreRefusedByATextThatSaysWhatToInstall) {
  EXPECT_EQ(testing::refusal(Errc::unsupported, [] { decode_png({}, 1); }),
            "this build of Penstock cannot read PNG images: install libpng (libpng-dev on Debian "
            "and Ubuntu), then configure, build and install Penstock anew");
  EXPECT_EQ(testing::refusal(Errc::unsupported, [] { decode_jpeg({}, 1); }),
            "this build of Penstock cannot read JPEG images: install libjpeg (libjpeg-dev on "
            "Debian and Ubuntu), then configure, build and install Penstock anew");
}

}  // namespace
}  // namespace penstock
