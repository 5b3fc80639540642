#include "apps/trainer/download/fetch.hpp"
#include "penstock/error.hpp"

namespace trainer {

void fetch(const FetchRequest&, PartialFile&) {
  throw penstock::Error(
      penstock::Errc::unsupported,
      "this build of Penstock cannot download files: install libcurl "
      "(libcurl4-openssl-dev on Debian and Ubuntu), then configure, build and install Penstock "
      "anew");
}

}  // namespace trainer
