// The expected digests are those of FIPS 180-4's examples, and of Python's hashlib.
#include "apps/trainer/download/sha256.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace trainer {
namespace {

std::string digest_of(const std::string& text, std::size_t step) {
  Sha256 sha256;
  const auto bytes = std::as_bytes(std::span(text));
  for (std::size_t i = 0; i < bytes.size(); i += step)
    sha256.add(bytes.subspan(i, std::min(step, bytes.size() - i)));
  return sha256.digest();
}

TEST(Sha256Digests, AreThoseOfTheStandard) {
  EXPECT_EQ(digest_of("", 1), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(digest_of("abc", 9),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(digest_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 100),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(digest_of(std::string(1'000'000, 'a'), 1 << 20),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256Digests, DoNotDependOnHowTheBytesAreDivided) {
  for (std::size_t size = 50; size < 70; ++size) {
    const std::string text(size, 'x');
    const std::string whole = digest_of(text, 1000);
    for (const std::size_t step : {1, 7, 63, 64}) EXPECT_EQ(digest_of(text, step), whole) << size;
  }
}

}  // namespace
}  // namespace trainer
