// These tests check that the way in which a training is run changes no bit of its results. Every
// setting of a configuration is drawn from a seed, and the results are compared with those of one
// stage on one IPU.
#include <gtest/gtest.h>

#include "tests/e2e/configurations/trained.hpp"
#include "tests/support/sanitized.hpp"

namespace penstock::testing {
namespace {

/// This many configurations of each experiment are run. Under sanitizers there is only one, because
/// each takes some twenty times as long.
constexpr int sampled = sanitized ? 1 : configurations_each;

class Configurations : public ::testing::TestWithParam<int> {};

TEST_P(Configurations, GiveTheBitsOfASingleStageWhateverIsDrawn) {
  Draws draws(static_cast<std::uint32_t>(GetParam()));
  const Experiment experiment = draw_experiment(draws);
  const Trained reference = train(experiment, reference_configuration(experiment));
  for (int i = 0; i < sampled; ++i) {
    const Configuration configuration = draw_configuration(draws, experiment);
    SCOPED_TRACE("configuration " + std::to_string(i) + " of seed " + std::to_string(GetParam()) +
                 ": " + to_json(experiment, configuration));
    std::string found;
    ASSERT_NO_THROW(found = difference(train(experiment, configuration), reference, experiment,
                                       configuration.options));
    ASSERT_EQ(found, "");
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, Configurations, ::testing::Range(0, experiments));

}  // namespace
}  // namespace penstock::testing
