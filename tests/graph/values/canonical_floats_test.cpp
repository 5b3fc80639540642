#include "graph/values/canonical_floats.hpp"

#include <gtest/gtest.h>

#include <cfenv>
#include <limits>

namespace penstock {
namespace {

/// Divides through volatile variables, so that the compiler can neither fold nor move the division.
double divided(double a, double b) {
  volatile double x = a, y = b;
  volatile double quotient = x / y;
  return quotient;
}

/// A CanonicalFloatsTest restores the thread's floating-point environment at the end of a test.
class CanonicalFloatsTest : public ::testing::Test {
 protected:
  CanonicalFloatsTest() { std::fegetenv(&before_); }
  ~CanonicalFloatsTest() override { std::fesetenv(&before_); }

 private:
  std::fenv_t before_;
};

TEST_F(CanonicalFloatsTest, RoundToNearestInEveryModeOfTheHost) {
  const double third = divided(1, 3);
  for (const int mode : {FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO, FE_TONEAREST}) {
    ASSERT_EQ(std::fesetround(mode), 0);
    {
      const CanonicalFloats canonical;
      EXPECT_EQ(divided(1, 3), third);
      EXPECT_EQ(divided(2, 3), 2 * third);
    }
    EXPECT_EQ(std::fegetround(), mode);
  }
}

TEST_F(CanonicalFloatsTest, LeaveTheHostsFlagsAsTheyWere) {
  std::feclearexcept(FE_ALL_EXCEPT);
  std::feraiseexcept(FE_OVERFLOW);
  {
    const CanonicalFloats canonical;
    EXPECT_EQ(std::fetestexcept(FE_ALL_EXCEPT), 0);
    divided(1, 0);
    EXPECT_NE(std::fetestexcept(FE_DIVBYZERO), 0);
  }
  EXPECT_EQ(std::fetestexcept(FE_DIVBYZERO), 0);
  EXPECT_NE(std::fetestexcept(FE_OVERFLOW), 0);
}

#if defined(__GLIBC__) && defined(__x86_64__)
TEST_F(CanonicalFloatsTest, DoNotTrapWhereTheHostsDoAndTrapAgainAfterwards) {
  std::feclearexcept(FE_ALL_EXCEPT);
  ASSERT_GE(feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_INEXACT), 0);
  {
    const CanonicalFloats canonical;
    EXPECT_EQ(divided(1, 0), std::numeric_limits<double>::infinity());
    EXPECT_EQ(fegetexcept(), 0);
  }
  EXPECT_EQ(fegetexcept(), FE_DIVBYZERO | FE_INVALID | FE_INEXACT);
}
#endif

#if defined(__x86_64__)
TEST_F(CanonicalFloatsTest, KeepDenormalsWhereTheHostFlushesThem) {
  __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040);
  {
    const CanonicalFloats canonical;
    EXPECT_GT(divided(std::numeric_limits<double>::min(), 4), 0);
  }
  EXPECT_EQ(__builtin_ia32_stmxcsr() & 0x8040, 0x8040U);
}
#endif

}  // namespace
}  // namespace penstock
