#include "engine/ipu_occupants.hpp"

#include <gtest/gtest.h>

#include <string>

namespace penstock {
namespace {

class Occupants : public ::testing::Test {
 protected:
  void come(const std::string& name) {
    stays[name] = std::make_unique<IpuStay>(all, IpuBytes{{0, 10}}, [this, name] {
      left += name;
      stays.erase(name);
    });
  }

  std::shared_ptr<IpuOccupants> all = std::make_shared<IpuOccupants>();
  std::map<std::string, std::unique_ptr<IpuStay>> stays;
  std::string left;
};

TEST_F(Occupants, LeaveInTheOrderOfTheirLastUse) {
  for (const char* name : {"a", "b", "c"}) come(name);
  stays["a"]->use();
  EXPECT_TRUE(all->have_room_for({{0, 10}}, 40));
  EXPECT_FALSE(all->have_room_for({{0, 10}}, 39));
  all->make_room_for({{0, 10}}, 30);
  EXPECT_EQ(left, "b");
  all->make_room_for({{0, 10}, {1, 5}}, 15);
  EXPECT_EQ(left, "bca");
}

}  // namespace
}  // namespace penstock
