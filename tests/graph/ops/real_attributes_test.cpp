// These tests check that attributes that are real numbers must be finite, within f32's range and
// within a range of their own.
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "graph/ir/op.hpp"
#include "graph/ops/list.hpp"
#include "penstock/error.hpp"
#include "tests/support/refusal.hpp"

namespace penstock::graph {
namespace {

struct RealAttribute {
  const char* op;
  const char* name;
  /// These values are refused, in addition to those that no attribute may have.
  std::vector<double> refused = {};
  std::vector<double> taken = {};
};

void PrintTo(const RealAttribute& row, std::ostream* stream) {
  *stream << row.op << ", " << row.name;
}

class RealAttributes : public ::testing::TestWithParam<RealAttribute> {
 protected:
  static std::string refusal_of(double value) {
    const Op& op = find_op(GetParam().op);
    OpSample sample = op.samples()[0];
    sample.attributes.set(GetParam().name, value);
    return testing::refusal(Errc::invalid_argument,
                            [&] { op.infer(sample.attributes, sample.inputs); });
  }
};

TEST_P(RealAttributes, AreRefusedOutsideTheirRange) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  std::vector<double> refused{std::numeric_limits<double>::quiet_NaN(), infinity, -infinity, 1e300,
                              -1e300};
  refused.insert(refused.end(), GetParam().refused.begin(), GetParam().refused.end());
  for (const double value : refused) {
    const std::string text = refusal_of(value);
    EXPECT_NE(text.find(GetParam().name), text.npos) << value << ": " << text;
    EXPECT_NE(text.find("expected"), text.npos) << value << ": " << text;
  }
  for (const double value : GetParam().taken) EXPECT_EQ(refusal_of(value), "accepted") << value;
}

INSTANTIATE_TEST_SUITE_P(
    AllOps, RealAttributes,
    ::testing::Values(
        RealAttribute{"scale", "factor", {}, {0, -3, 1e38, 1e-46}},
        RealAttribute{"vector_norm", "p", {0, -1}, {0.5, 1, 2, 7}},
        RealAttribute{"attention", "scale", {}, {0, -3, 1e38}},
        RealAttribute{"attention_dropout", "p", {-0.1, 1.1}, {0, 0.5, 1}},
        RealAttribute{"rotary_embedding", "base", {0, -1}, {0.5, 10000, 1e38}},
        RealAttribute{"pad", "value", {}, {0, -3, 1e38}},
        RealAttribute{"interpolate", "scale_factor", {-1}, {0, 0.5, 2, 1e38}},
        RealAttribute{"leaky_relu", "negative_slope", {}, {0, -2, 1, 1e38}},
        RealAttribute{"elu", "alpha", {}, {0, -2, 1, 1e38}},
        RealAttribute{"elu", "scale", {}, {0, -2, 1, 1e38}},
        RealAttribute{"elu", "input_scale", {0, -1, 1e-46}, {0.5, 1e38}},
        RealAttribute{"softplus", "beta", {0, -1, 1e-46}, {0.5, 1e38}},
        RealAttribute{"softplus", "threshold", {}, {0, -2, 20}},
        RealAttribute{"hardtanh", "low", {}, {-5, 0}},
        RealAttribute{"hardtanh", "high", {-0.5, -1}, {0, 6}},
        RealAttribute{"softshrink", "bound", {-1}, {0, 2}},
        RealAttribute{"hardshrink", "bound", {-1}, {0, 2}},
        RealAttribute{"threshold", "threshold", {}, {-1, 0, 1}},
        RealAttribute{"threshold", "value", {}, {-1, 0, 1}},
        RealAttribute{"rms_norm", "eps", {0, -1e-5, 1e-46}, {1e-12, 1}},
        RealAttribute{"cumulative_batch_norm", "eps", {0, -1e-5, 1e-46}, {1e-12, 1}},
        RealAttribute{"untracked_batch_norm", "eps", {0, -1e-5, 1e-46}, {1e-12, 1}},
        RealAttribute{"huber_loss", "delta", {0, -1}, {0.5, 2}},
        RealAttribute{"gaussian_nll_loss", "eps", {0, -1}, {1e-6, 1}},
        RealAttribute{"multi_margin_loss", "margin", {}, {-1, 0, 1}},
        RealAttribute{"dropout", "p", {-0.1, 1.1}, {0, 0.5, 1}},
        RealAttribute{"group_norm", "eps", {0, -1e-5, 1e-46}, {1e-12, 1}},
        RealAttribute{"layer_norm", "eps", {0, -1e-5, 1e-46}, {1e-12, 1}},
        RealAttribute{"batch_norm", "eps", {0, -1e-5, 1e-46}, {1e-12, 1}},
        RealAttribute{"batch_norm_inference", "eps", {0, -1e-5, 1e-46}, {1e-12, 1}},
        RealAttribute{"conv2d_inference", "eps", {0, -1e-5, 1e-46}, {1e-12, 1}},
        RealAttribute{"conv2d_inference", "low", {}, {-5, 0}},
        RealAttribute{"conv2d_inference", "high", {}, {-5, 6}},
        RealAttribute{"batch_norm", "momentum", {-0.1, 1.1}, {0, 1}},
        RealAttribute{"finished_batch_norm", "eps", {0, -1e-5, 1e-46}, {1e-12, 1}},
        RealAttribute{"finished_batch_norm", "low", {}, {-5, 0}},
        RealAttribute{"finished_batch_norm", "high", {}, {-5, 6}},
        RealAttribute{"finished_cumulative_batch_norm", "eps", {0, -1e-5, 1e-46}, {1e-12, 1}},
        RealAttribute{"finished_cumulative_batch_norm", "low", {}, {-5, 0}},
        RealAttribute{"finished_cumulative_batch_norm", "high", {}, {-5, 6}},
        RealAttribute{"finished_untracked_batch_norm", "eps", {0, -1e-5, 1e-46}, {1e-12, 1}},
        RealAttribute{"finished_untracked_batch_norm", "low", {}, {-5, 0}},
        RealAttribute{"finished_untracked_batch_norm", "high", {}, {-5, 6}},
        RealAttribute{"finished_batch_norm", "momentum", {-0.1, 1.1}, {0, 1}},
        RealAttribute{"cross_entropy", "label_smoothing", {-0.1, 1.1}, {0, 1}},
        RealAttribute{"smooth_l1_loss", "beta", {-1}, {0, 2}},
        RealAttribute{"poisson_nll_loss", "eps", {-1}, {0, 1}},
        RealAttribute{"hinge_embedding_loss", "margin", {}, {-1, 0, 1}},
        RealAttribute{"cosine_embedding_loss", "margin", {}, {-1, 0, 1}},
        RealAttribute{"margin_ranking_loss", "margin", {}, {-1, 0, 1}},
        RealAttribute{"triplet_margin_loss", "margin", {-1, 0}, {1}},
        RealAttribute{"triplet_margin_loss", "eps", {-1}, {0, 1}}));

}  // namespace
}  // namespace penstock::graph
