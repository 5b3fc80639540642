#include <gtest/gtest.h>

#include "apps/trainer/download/fetch.hpp"
#include "penstock/error.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/temporary_directory.hpp"

namespace trainer {
namespace {

TEST(DownloadsWithoutCurl, AreRefusedByATextThatSaysWhatToInstall) {
  const penstock::testing::TemporaryDirectory directory;
  PartialFile file(directory / "file");
  EXPECT_EQ(penstock::testing::refusal(penstock::Errc::unsupported, [&] { fetch({}, file); }),
            "this build of Penstock cannot download files: install libcurl (libcurl4-openssl-dev "
            "on Debian and Ubuntu), then configure, build and install Penstock anew");
}

}  // namespace
}  // namespace trainer
