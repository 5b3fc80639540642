#include "engine/lent_tensors.hpp"

#include <gtest/gtest.h>

#include <iterator>
#include <optional>
#include <thread>

#include "tests/support/forked.hpp"

namespace penstock {
namespace {

/// A Watched has memory of a host's. Its deleter notes the thread that the deleter runs on.
struct Watched {
  std::thread::id deleted_on;
  std::byte elements[8] = {};

  Tensor tensor() {
    return Tensor::wrap(DType::f32, {2}, std::shared_ptr<const std::byte>(elements, [this](auto*) {
                          deleted_on = std::this_thread::get_id();
                        }));
  }
};

TEST(LentTensors, AreReleasedByTheThreadThatAsksForItWhoeverDropsThemLast) {
  Watched watched;
  LentTensors lender;
  std::vector<Tensor> lent;
  {
    const Tensor watched_tensor = watched.tensor();
    lent = lender.lend({&watched_tensor, 1});
    EXPECT_EQ(lent.at(0).raw(), watched_tensor.raw());
    EXPECT_EQ(lent.at(0).shape(), watched_tensor.shape());
  }
  lender.release_returned();
  EXPECT_EQ(watched.deleted_on, std::thread::id()) << "it is still lent";
  std::thread([&] { lent.clear(); }).join();
  EXPECT_EQ(watched.deleted_on, std::thread::id());
  lender.release_returned();
  EXPECT_EQ(watched.deleted_on, std::this_thread::get_id());
}

TEST(LentTensors, AreReleasedByTheLendersEndAtTheLatest) {
  Watched watched[3];
  {
    LentTensors lender;
    for (Watched& one : watched) {
      const Tensor tensor = one.tensor();
      std::thread([lent = lender.lend({&tensor, 1})]() mutable { lent.clear(); }).join();
    }
  }
  for (const Watched& one : watched) EXPECT_EQ(one.deleted_on, std::this_thread::get_id());
}

// Once a deleter has forked the process, the child must not call the host's other deleters, nor
// take locks that a thread of the parent may hold.
TEST(LentTensors, AreLeftToTheParentOnceADeleterHasForked) {
  std::optional<int> code_of_child;
  int deleted = 0;
  bool is_child = false;
  const std::byte elements[8] = {};
  const auto fork_once = [&](auto*) {
    if (++deleted > 1) return;
    const pid_t id = testing::forked();
    is_child = id == 0;
    if (!is_child) code_of_child = testing::exit_code_of(id);
  };
  {
    LentTensors lender;
    for (int i = 0; i < 3; ++i) {
      const Tensor own = Tensor::wrap(
          DType::f32, {2}, std::shared_ptr<const std::byte>(std::begin(elements), fork_once));
      lender.lend({&own, 1});
    }
    lender.release_returned();
    if (is_child) lender.release_returned();
  }
  if (is_child) ::_exit(deleted);
  EXPECT_EQ(deleted, 3);
  EXPECT_EQ(code_of_child, 1);
}

TEST(LentTensors, AreLeftToTheParentThatForkedBeforeTheyWereReleased) {
  Watched watched;
  LentTensors lender;
  {
    const Tensor own = watched.tensor();
    lender.lend({&own, 1});
  }
  EXPECT_EQ(testing::exit_code_of_fork([&] {
              lender.release_returned();
              return watched.deleted_on == std::thread::id() ? 0 : 1;
            }),
            0);
  lender.release_returned();
  EXPECT_EQ(watched.deleted_on, std::this_thread::get_id());
}

TEST(LentTensors, OfWhichRowsAreUsedComeBackWithTheLastOfThese) {
  Watched watched;
  LentTensors lender;
  Tensor rows;
  {
    const Tensor tensor = watched.tensor();
    rows = lender.lend({&tensor, 1}).at(0).rows(1, 2);
  }
  lender.release_returned();
  EXPECT_EQ(watched.deleted_on, std::thread::id());
  rows = {};
  lender.release_returned();
  EXPECT_EQ(watched.deleted_on, std::this_thread::get_id());
}

}  // namespace
}  // namespace penstock
