#include "engine/option_names.hpp"

#include <gtest/gtest.h>

#include <set>

namespace penstock {
namespace {

TEST(OptionNames, AreThereForEveryOptionAndDiffer) {
  std::set<std::string_view> names;
  for (int i = 0; i < graph::options; ++i) {
    const std::string_view name = option_name(static_cast<graph::Option>(i));
    EXPECT_TRUE(name.starts_with("options.")) << i << ": " << name;
    EXPECT_TRUE(names.insert(name).second) << name;
  }
}

TEST(OptionNames, AreEmptyForWhatIsNoOption) {
  EXPECT_EQ(option_name(static_cast<graph::Option>(graph::options)), "");
}

}  // namespace
}  // namespace penstock
