#include "engine/option_names.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "penstock/options_json.hpp"

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

TEST(OptionNames, AreThoseOfFields) {
  const auto json = nlohmann::json::parse(to_json(Options{}));
  for (int i = 0; i < graph::options; ++i) {
    std::string path(option_name(static_cast<graph::Option>(i)));
    path.erase(0, std::string("options").size());
    std::ranges::replace(path, '.', '/');
    EXPECT_TRUE(json.contains(nlohmann::json::json_pointer(path))) << path;
  }
}

TEST(OptionNames, AreEmptyForWhatIsNoOption) {
  EXPECT_EQ(option_name(static_cast<graph::Option>(graph::options)), "");
}

}  // namespace
}  // namespace penstock
