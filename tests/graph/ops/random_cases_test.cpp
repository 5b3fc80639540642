// These tests compare ops and losses with what PyTorch computes in double precision, on random
// cases of odd shapes and values. tests/tools/random_op_cases.py draws the cases, and many more if
// asked.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "graph/ir/op.hpp"
#include "graph/ops/list.hpp"
#include "tests/support/data_path.hpp"
#include "tests/support/op_case.hpp"
#include "tests/support/reference_file.hpp"

namespace penstock::graph {
namespace {

using testing::NamedTensors;
using testing::ReferenceFile;

const ReferenceFile& stored() {
  static const ReferenceFile file =
      testing::read_reference(testing::data_path("op_cases.safetensors"));
  return file;
}

/// Returns whether `actual` differs from `expected` by no more than `allowed`. If one of the two is
/// NaN or infinite, the other one must be, too.
bool is_close(float actual, float expected, float allowed) {
  if (std::isnan(expected)) return std::isnan(actual);
  return actual == expected || std::abs(double{actual} - expected) <= allowed;
}

/// Checks `actual` against `judged`, which has a row of expected elements, and a row that says how
/// far each element may be away.
void expect_close(const std::string& name, const Tensor& actual, const Tensor& judged) {
  const auto elements = actual.as<float>(), rows = judged.as<float>();
  ASSERT_EQ(2 * elements.size(), rows.size()) << name;
  for (std::size_t i = 0; i < elements.size(); ++i)
    EXPECT_TRUE(is_close(elements[i], rows[i], rows[elements.size() + i]))
        << name << ", element " << i << ": " << elements[i] << ", expected " << rows[i]
        << " within " << rows[elements.size() + i];
}

TEST(RandomCases, OfEveryOpAreWhatPyTorchComputesInDoublePrecision) {
  std::size_t judged = 0;
  for (const auto& [name, description] : stored().metadata) {
    SCOPED_TRACE(name + ": " + description);
    const NamedTensors results = testing::compute_op_case(name, description, stored().tensors);
    for (const auto& [result, tensor] : results) {
      ++judged;
      const std::string key = name + ".expected" + result.substr(name.size());
      expect_close(result, tensor, stored().tensors.at(key));
    }
  }
  EXPECT_GE(judged, 2 * stored().metadata.size());
}

// The cases have every op that can be differentiated except those with a dropout, whose masks are
// not PyTorch's, and those that finish the result of another op, whose bits other tests compare.
TEST(RandomCases, AreOfEveryOpThatCanBeDifferentiated) {
  std::set<std::string_view> drawn;
  for (const auto& [name, description] : stored().metadata) {
    const auto given = nlohmann::json::parse(description);
    for (const auto& step : given.at("steps"))
      drawn.insert(find_op(step.at("op").get<std::string>()).name);
  }
  for (const Op* op : all_ops())
    if (op->backward && op->samples) {
      EXPECT_TRUE(drawn.contains(op->name) || op->name.ends_with("dropout") ||
                  op->name.starts_with("finished_"))
          << op->name;
    }
}

TEST(RandomCases, AreJudgedByLimitsThatAWrongResultExceeds) {
  EXPECT_TRUE(is_close(1.0f, 1.0f, 0));
  EXPECT_TRUE(is_close(1.01f, 1.0f, 0.02f));
  EXPECT_FALSE(is_close(1.03f, 1.0f, 0.02f));
  constexpr float nan = std::numeric_limits<float>::quiet_NaN(), infinity = HUGE_VALF;
  EXPECT_TRUE(is_close(nan, nan, 0));
  EXPECT_FALSE(is_close(0, nan, 1));
  EXPECT_FALSE(is_close(nan, 0, 1));
  EXPECT_TRUE(is_close(infinity, infinity, 1));
  EXPECT_FALSE(is_close(infinity, 1, 1));
  std::size_t tight = 0, all = 0;
  for (const auto& [name, tensor] : stored().tensors) {
    if (name.find(".expected.") == name.npos) continue;
    const auto rows = tensor.as<float>();
    const std::size_t count = rows.size() / 2;
    float largest = 1;
    for (std::size_t i = 0; i < count; ++i)
      if (std::isfinite(rows[i])) largest = std::max(largest, std::abs(rows[i]));
    for (std::size_t i = count; i < rows.size(); ++i) {
      ++all;
      tight += rows[i] <= 1e-4f * largest;
    }
  }
  EXPECT_GE(10 * tight, 9 * all);
}

}  // namespace
}  // namespace penstock::graph
