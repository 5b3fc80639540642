// The trainer refuses these runs because of their options, their topology or their output files.
#include "tests/e2e/trainer/refusal.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>

namespace penstock::testing {
namespace {

/// Returns the content of every file below `directory`, by its path.
std::map<std::string, std::string> contents(const TemporaryDirectory& directory) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory.path()))
    files[entry.path()] = entry.is_directory() ? "directory" : file_content(entry.path());
  return files;
}

TEST_P(TrainerRefusal, IsOneLineAndCode2AndTouchesNoFile) {
  const TemporaryDirectory inputs, outputs;
  write_file(outputs / "metrics", "before");
  Arguments arguments = GetParam().run(inputs);
  if (!std::count(arguments.begin(), arguments.end(), "--metrics"))
    arguments = arguments + Arguments{"--metrics", (outputs / "metrics").string()};
  const auto before = contents(inputs);
  const CommandResult result = train(arguments, {.most_seconds = 20});
  EXPECT_EQ(result.code, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.err.rfind("penstock-train: ", 0), 0U) << result.err;
  EXPECT_NE(result.err.find(GetParam().text), result.err.npos) << result.err;
  EXPECT_EQ(result.err.find('\n'), result.err.size() - 1) << result.err;
  EXPECT_EQ(file_content(outputs / "metrics"), "before");
  EXPECT_EQ(outputs.entries(), std::set<std::string>{"metrics"});
  EXPECT_TRUE(contents(inputs) == before);
}

/// Returns a run on synthetic images with the arguments `more`.
BadRun with(const Arguments& more) {
  return [=](const TemporaryDirectory&) { return Arguments{"--dataset", "synthetic"} + more; };
}

/// Returns a run whose options are in a configuration file with `content`.
BadRun configured(const std::string& content) {
  return [=](const TemporaryDirectory& inputs) {
    write_file(inputs / "run.json", content);
    return Arguments{"--config", (inputs / "run.json").string()};
  };
}

const std::vector<Refusal> options{
    {"UnknownKey", configured("{\"dataset\": \"synthetic\",\n\"sizes\": 3}"),
     "run.json\": line 2: sizes: unknown option"},
    {"RepeatedKey", configured("{\"epochs\": 1,\n\"epochs\": 2}"),
     "run.json\": line 2: \"epochs\" is there twice"},
    {"MalformedConfiguration", configured("{\"epochs\": 1,\n}"),
     "run.json\": line 2: not valid JSON"},
    {"ConfiguredOutOfRange", configured("{\n\"batch-size\": 0\n}"),
     "run.json\": line 2: batch-size: expected a whole number"},
    {"NoConfiguration", with({"--config", "no/such.json"}),
     "--config \"no/such.json\": cannot read it: No such file or directory"},
    {"UnknownOption", with({"--sizes", "3"}), "--sizes"},
    {"ExtraArgument", with({"mnist"}), "\"mnist\""},
    {"NoNumber", with({"--epochs", "3x"}), "--epochs"},
    {"OutOfRange", with({"--batch-size", "0"}), "--batch-size"},
    {"Overflow", with({"--learning-rate", "1e39"}),
     "--learning-rate: expected a number above 0, from 1.2e-38 to 3.4e38"},
    {"Underflow", with({"--loss-scaling", "1e-60"}),
     "--loss-scaling: expected a number above 0, from 1.2e-38"},
    {"NotFinite", with({"--weight-decay", "nan"}), "--weight-decay"},
    {"ForeignConstant", with({"--momentum", "0.9"}), "--momentum"},
    {"HugeStep", with({"--batch-size", "2147483647", "--device-iterations", "2147483647"}),
     "one step needs more than 9007199254740992 training images (--batch-size 2147483647 x "
     "--gradient-accumulation 10 x --device-iterations 2147483647 x --replication-factor 1), there "
     "are 12000: lower one of these options"},
    {"RunningMeanOfASum", with({"--reduction", "sum", "--reduction-strategy", "running"}),
     "penstock-train: --reduction-strategy: expected post, as the reduction is sum, got running"},
    {"ScalingBeyondF32", with({"--loss-scaling", "3e38"}),
     "penstock-train: --loss-scaling: expected at most 8.507059173023462e+36, as the gradient is a "
     "mean of 10 as well, got 3e+38"},
    {"TooFewSamples", with({"--device-iterations", "100"}),
     "one step needs 40000 training images"}};

const std::vector<Refusal> topologies{
    {"UnknownBlock", with({"--stages", "B1|B2|B3|B4,B9"}),
     "--stages: stage 3: there is no block \"B9\""},
    {"BlockInTwoStages", with({"--stages", "B1,B2|B2,B3|B4"}), "--stages: block \"B2\""},
    {"StageWithoutBlock", with({"--stages", "B1||B2,B3,B4"}), "but stage 1 has no block"},
    {"BlockInNoStage", with({"--stages", "B1|B2|B4"}), "--stages: block \"B3\""},
    {"AgainstTheDataFlow", with({"--stages", "B1|B3|B2|B4"}), "needs the output of"},
    {"TooFewIpus", with({"--ipus", "0,1"}),
     "--ipus: expected one IPU per stage, 4 (B1|B2|B3|B4), got 2"},
    {"TooManyIpus", with({"--stages", "B1,B2|B3,B4", "--ipus", "0,1,2"}),
     "--ipus: expected one IPU per stage, 2 (B1,B2|B3,B4), got 3"},
    {"AutomaticStagesWithoutNumber", with({"--stages", "auto"}), "--stages auto: needs --ipus"},
    {"NoAutomaticStages", with({"--stages", "auto:0"}),
     "--stages: expected auto:N with a whole number from 1 to 1024, got \"auto:0\""},
    {"MoreStagesThanPieces", with({"--stages", "auto:100"}),
     "--stages: the model cannot be cut into 100 stages"},
    {"FewerIpusThanAutomaticStages", with({"--stages", "auto:4", "--ipus", "0,1"}),
     "--ipus: expected one IPU per stage, 4 (automatic), got 2"},
    {"TooLittleMemory", with({"--ipu-memory", "100kB"}), "--ipu-memory: stage 0 on IPU 0 needs "},
    {"TooLittleMemoryForAnyCut", with({"--stages", "auto:3", "--ipu-memory", "100kB"}),
     "--ipu-memory: no cut into 3 stages keeps to 100.0 kB per IPU; "},
    {"PhaseOnAnIpuOfTheOthers", with({"--strategy", "parallel_phased", "--ipus", "1,1,1,1"}),
     "--ipus: parallel_phased: phase 0 is on IPU 1"},
    {"BlockInNoPhase", with({"--strategy", "serial_phased", "--phases", "B1|B2;B3"}),
     "--phases: block \"B4\" is in no stage"},
    {"RecomputingLastStage", with({"--recompute", "0,3"}),
     "--recompute: expected stages before stage 3, for the last one never recomputes, got 3"},
    {"RecomputingOneStage", with({"--stages", "B1,B2,B3,B4", "--recompute", "0"}),
     "--recompute: expected none, for the only stage never recomputes, got 0"},
    {"TooLittleMemoryWithoutRecomputation", with({"--ipu-memory", "3MB"}),
     "; or recomputation (--recompute), which needs "},
    {"UnknownLayer", with({"--begin-block", "layer9=1"}),
     "penstock-train: --begin-block layer9: the model mnist-cnn has no layer of that name; there "
     "are layer1, "
     "layer2, layer3, layer4\n"},
    {"TwoBlocksAtALayer", with({"--begin-block", "layer4=1", "--begin-block", "layer4"}),
     "penstock-train: --begin-block layer4: block \"layer4\" begins there already\n"},
    {"OwnBlockBesideBegunOnes", with({"--begin-block", "layer4", "--stages", "B1|layer4"}),
     "--stages: stage 0: there is no block \"B1\"; the model has "},
    {"BegunBlocksOfTwoIpusInAStage",
     with({"--begin-block", "layer4=1", "--stages", "start,layer4"}),
     "--stages: stage 0: block \"start\" asks for IPU 0 and block \"layer4\" for IPU 1"},
    {"BegunBlockOnAnIpuOfTheOtherPhases",
     with({"--strategy", "parallel_phased", "--begin-block", "layer4=2"}),
     "penstock-train: --begin-block: parallel_phased: phase 1 is on IPU 2"},
    {"IpuOutOfRange", with({"--ipus", "0,1,2,70000"}),
     "--ipus: expected whole numbers from 0 to 65535"}};

Arguments profile_below_a_file(const TemporaryDirectory& inputs) {
  write_file(inputs / "file", "");
  return {"--dataset", "synthetic", "--profile", "--profile-dir", (inputs / "file").string()};
}

const std::vector<Refusal> outputs{
    {"MetricsInNoDirectory", with({"--metrics", "/nowhere/metrics"}), "/nowhere/metrics"},
    {"MetricsIsADirectory", with({"--metrics", "/usr"}), "/usr"},
    {"MetricsIsADevice", with({"--metrics", "/dev/full"}), "/dev/full"},
    {"WeightsInNoDirectory", with({"--save-weights", "/nowhere/weights"}), "/nowhere/weights"},
    {"ProfileBelowAFile", profile_below_a_file, "file/training"}};

using ::testing::ValuesIn;
INSTANTIATE_TEST_SUITE_P(Options, TrainerRefusal, ValuesIn(options), refusal_name);
INSTANTIATE_TEST_SUITE_P(Topologies, TrainerRefusal, ValuesIn(topologies), refusal_name);
INSTANTIATE_TEST_SUITE_P(Outputs, TrainerRefusal, ValuesIn(outputs), refusal_name);

}  // namespace
}  // namespace penstock::testing
