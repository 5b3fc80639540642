// These tests run the trainer on networks from files in the ONNX format.

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <limits>
#include <map>
#include <string>
#include <utility>

#include "penstock/penstock.hpp"
#include "tests/e2e/trainer/trainer.hpp"
#include "tests/support/data_path.hpp"
#include "tests/support/onnx_bytes.hpp"
#include "tests/support/temporary_directory.hpp"

namespace penstock::testing {
namespace {

/// Returns a training of a network with two convolutions and norms that PyTorch has exported.
Arguments file_for(const std::string& updates) {
  return quick_for(updates) + Arguments{"--onnx", data_path("onnx/cnn.onnx").string()};
}

Arguments quick_file() {
  return file_for("12");
}

class TrainerOnnx : public ::testing::Test {
 protected:
  /// Trains the network, and returns the file of its weights.
  std::string weights(const Arguments& more, const std::string& updates = "12") const {
    const std::string path = (directory_ / "weights.st").string();
    expect_success(train(file_for(updates) + more + Arguments{"--save-weights", path}));
    return file_content(path);
  }

  TemporaryDirectory directory_;
};

TEST_F(TrainerOnnx, WritesTheSameWeightsHoweverManyStagesThereAre) {
  const std::string expected = weights({});
  for (const Arguments& cut :
       {Arguments{"--stages", "auto:2"}, Arguments{"--stages", "auto:4"},
        Arguments{"--begin-block", "conv2=1"}, Arguments{"--begin-block", "/conv2/Conv,fc"},
        Arguments{"--split-after", "relu1", "--split-after", "/relu2/Relu"},
        Arguments{"--split-after", "conv1,pool1,fc", "--strategy", "sharded"}})
    EXPECT_TRUE(weights(cut) == expected) << cut.back();
}

TEST_F(TrainerOnnx, TrainsWeightsUnderTheNamesOfTheFile) {
  const CommandResult result =
      train(file_for("150") + Arguments{"--learning-rate", "0.01", "--save-weights",
                                        (directory_ / "weights.st").string()});
  expect_success(result);
  EXPECT_GT(printed_accuracy(result), 30) << result.out;
  for (const char* name : {"conv1.weight", "bn1.running_mean", "fc.bias"})
    EXPECT_NE(file_content(directory_ / "weights.st").find(name), std::string::npos) << name;
}

TEST_F(TrainerOnnx, GoesOnFromWeightsAndFromCheckpoints) {
  const std::string whole = weights({}), path = (directory_ / "first.st").string();
  const Arguments checkpoints{"--checkpoint-dir", (directory_ / "run").string(), "--resume",
                              "--checkpoint-every", "5"};
  weights(checkpoints, "7");
  EXPECT_TRUE(weights(checkpoints) == whole);

  write_file(directory_ / "first.st", whole);
  EXPECT_FALSE(weights({"--init-weights", path}) == whole);
  write_file(directory_ / "first.st", whole.substr(0, 100));
  const CommandResult refused = train(quick_file() + Arguments{"--init-weights", path});
  EXPECT_EQ(refused.code, 2);
}

TEST_F(TrainerOnnx, GoesOnFromACheckpointIfTheFileHasTheSameContent) {
  const std::string content = file_content(data_path("onnx/cnn.onnx"));
  write_file(directory_ / "net.onnx", content);
  write_file(directory_ / "copy.onnx", content);
  const auto run = [&](const std::string& updates, const Arguments& network) {
    return train(quick_for(updates) + network +
                 Arguments{"--checkpoint-dir", (directory_ / "run").string(), "--resume"});
  };
  const auto refused = [&](const Arguments& network) {
    const CommandResult result = run("20", network);
    EXPECT_EQ(result.code, 2);
    return result.err;
  };
  const Arguments net{"--onnx", (directory_ / "net.onnx").string()};
  expect_success(run("7", net));
  expect_success(run("12", {"--onnx", (directory_ / "." / "net.onnx").string()}));
  expect_success(run("17", {"--onnx", (directory_ / "copy.onnx").string()}));
  EXPECT_NE(refused({"--model", "resnet18"}).find("expected the imported network"),
            std::string::npos);

  // A network with other activations has parameters of the same names and shapes.
  std::string other = content;
  for (auto at = other.find("Relu"); at != other.npos; at = other.find("Relu"))
    other.replace(at, 4, "Tanh");
  ASSERT_NE(other, content);
  write_file(directory_ / "net.onnx", other);
  expect_success(train(quick_for("1") + net));
  EXPECT_NE(refused(net).find("--onnx: expected the network that the run trains, "),
            std::string::npos);
}

TEST_F(TrainerOnnx, IsRefusedInTheSameWordsWithAndWithoutCheckpoints) {
  const std::string pipe = (directory_ / "pipe").string();
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const std::string& path : {std::string("/dev/zero"), pipe, directory_.path().string(),
                                  (directory_ / "none.onnx").string()}) {
    const Arguments run = quick + Arguments{"--onnx", path};
    const CommandResult without = train(run);
    const CommandResult with =
        train(run + Arguments{"--checkpoint-dir", (directory_ / "run").string()});
    EXPECT_EQ(with.code, 2) << path;
    EXPECT_TRUE(with.err.starts_with("penstock-train: --onnx: ONNX file " + path + ": "))
        << with.err;
    EXPECT_EQ(with.err, without.err);
  }
}

TEST_F(TrainerOnnx, TrainsNoTensorThatIsToBeAConstant) {
  const auto stays = [&](const std::string& name, const std::string& file) {
    const Tensor before = Model::from_onnx(data_path("onnx/cnn.onnx").string()).weight(name);
    return file.find({reinterpret_cast<const char*>(before.raw()), before.bytes()}) !=
           std::string::npos;
  };
  const std::string file = weights({"--onnx-constants", "conv2.*"});
  EXPECT_TRUE(stays("conv2.weight", file));
  EXPECT_FALSE(stays("conv1.weight", file));
}

TEST_F(TrainerOnnx, OverwritesNoFileThatItReads) {
  const std::string path = (directory_ / "net.onnx").string(),
                    content = file_content(data_path("onnx/cnn.onnx"));
  write_file(path, content);
  const CommandResult result = train(quick + Arguments{"--onnx", path, "--save-weights", path});
  EXPECT_EQ(result.code, 2);
  EXPECT_TRUE(file_content(path) == content);
}

/// Returns a file with an input [N,...] and an output that is a linear layer of it.
OnnxBytes flat_network(const std::vector<OnnxDimension>& dims, std::int64_t features,
                       std::int64_t classes) {
  OnnxBytes bytes;
  const std::vector<float> weight(static_cast<std::size_t>(features * classes), 0.01f);
  bytes.input("pixels", dims);
  bytes.initializer("w", Tensor(Shape({features, classes}), std::span<const float>(weight)));
  bytes.node({"Flatten", {"pixels"}, {"flat"}}).node({"MatMul", {"flat", "w"}, {"y"}, {}, "fc"});
  return bytes;
}

class TrainerOnnxRefusal : public TrainerOnnx {
 protected:
  std::string refused(const OnnxBytes& bytes,
                      const Arguments& data = {"--dataset", "synthetic"}) const {
    const std::string path = (directory_ / "net.onnx").string();
    write_file(path, bytes.file());
    const CommandResult result = train(Arguments{"--onnx", path} + data);
    EXPECT_EQ(result.code, 2) << result.err;
    const std::size_t at = result.err.find("net.onnx: ");
    return at == std::string::npos ? result.err : result.err.substr(at + 10);
  }
};

TEST_F(TrainerOnnx, TrainsOnRowsOfNumbersAsOnImages) {
  const auto weights_of = [&](const std::vector<OnnxDimension>& dims) {
    const std::string path = (directory_ / "net.onnx").string(),
                      weights = (directory_ / "weights.st").string();
    write_file(path, flat_network(dims, 784, 10).output("y").file());
    expect_success(train(quick + Arguments{"--onnx", path, "--save-weights", weights}));
    return file_content(weights);
  };
  EXPECT_TRUE(weights_of({"n", 784}) == weights_of({"n", 1, 28, 28}));
}

TEST_F(TrainerOnnx, SavesNetworksThatHaveInfiniteConstants) {
  OnnxBytes bytes = flat_network({"n", 1, 28, 28}, 784, 10).output("z");
  bytes.initializer("lowest", Tensor({1}, {-std::numeric_limits<float>::infinity()}));
  bytes.node({"Max", {"y", "lowest"}, {"z"}});
  const std::string path = (directory_ / "net.onnx").string();
  write_file(path, bytes.file());
  expect_success(train(
      quick + Arguments{"--onnx", path, "--save-weights", (directory_ / "weights.st").string()}));
}

TEST_F(TrainerOnnxRefusal, NamesTheInputsThatAreNoImages) {
  EXPECT_EQ(
      refused(flat_network({"batch", 780}, 780, 10).output("y")),
      "expected one input of images, float[N,channels,height,width] with numbers for all "
      "sizes but N, or float[N,features] with those of a square image of 1 or 3 channels, got "
      "pixels float[batch,780]\n");
  EXPECT_NE(refused(flat_network({"n", 1, 28, 28}, 784, 10).input("mask", {"n", 3}).output("y"))
                .find("got pixels float[n,1,28,28], mask float[n,3]"),
            std::string::npos);
}

TEST_F(TrainerOnnxRefusal, NamesTheOutputsThatAreNoScores) {
  EXPECT_EQ(refused(flat_network({"n", 1, 28, 28}, 784, 10).output("flat").output("y")),
            "expected one output of scores, [N,classes] with two classes or more, or one of them "
            "that is called \"logits\", got, for one sample, flat [1,784], y [1,10]\n");
  OnnxBytes softmax = flat_network({"n", 1, 28, 28}, 784, 10);
  softmax.node({"Softmax", {"y"}, {"chances"}, {}, "last"}).output("chances");
  EXPECT_EQ(refused(softmax),
            "output chances: expected logits, which the loss takes the softmax of, got those of a "
            "softmax (layer last); export the network without it\n");
}

TEST_F(TrainerOnnxRefusal, NamesImagesAndClassesThatDoNotFit) {
  const OnnxBytes five = flat_network({"n", 1, 28, 28}, 784, 5).output("y");
  EXPECT_EQ(refused(five),
            "penstock-train: --dataset synthetic: expected images [1,28,28] in 5 classes, which "
            "net.onnx takes, got [1,28,28] in 10 classes; --dataset folder has images of any "
            "size\n");
  const std::string labels =
      refused(five, {"--dataset", "mnist", "--data-dir", data_path("mnist").string()});
  EXPECT_NE(labels.find("expected 0 to 4"), std::string::npos) << labels;
  const std::string size =
      refused(flat_network({"n", 1, 32, 32}, 1024, 10).output("y"),
              {"--dataset", "mnist", "--data-dir", data_path("mnist").string()});
  EXPECT_NE(size.find("expected images of [1,32,32], got [1,28,28]"), std::string::npos) << size;
}

TEST_F(TrainerOnnxRefusal, NamesTheLayersThatThereAre) {
  EXPECT_EQ(train(quick_file() + Arguments{"--begin-block", "layer4"}).err,
            "penstock-train: --begin-block layer4: the model torch_jit has no layer of that name; "
            "there are "
            "conv1, bn1, relu1, pool1, conv2, bn2, relu2, pool2, flatten, fc\n");
  EXPECT_EQ(
      train(quick_file() + Arguments{"--split-after", "conv9"})
          .err.find(
              "penstock-train: --split-after conv9: the model torch_jit has no layer of that name"),
      0U);
  EXPECT_EQ(train(quick_file() + Arguments{"--split-after", "cross_entropy_1"}).err,
            "penstock-train: --split-after cross_entropy_1: no layer is behind it\n");
}

TEST_F(TrainerOnnxRefusal, SaysWhatIsWrongWithHowPixelsAreNormalized) {
  const Model model = Model::from_onnx(data_path("onnx/cnn.onnx").string());
  const std::string path = (directory_ / "net.onnx").string();
  const std::string mean = "penstock.pixel_mean", std = "penstock.pixel_std";
  const auto refused = [&](const std::map<std::string, std::string>& metadata) {
    model.save_onnx(path, {.metadata = metadata});
    const CommandResult result = train(quick + Arguments{"--onnx", path});
    EXPECT_EQ(result.code, 2);
    return result.err;
  };
  const std::string both = "metadata " + mean + " and " + std + ": expected numbers of f32, the ";
  for (const auto& [metadata, text] :
       {std::pair<std::map<std::string, std::string>, std::string>{
            {{mean, "0.5"}}, "metadata: expected " + mean + " and " + std + ", got only " + mean},
        {{{mean, "0.5"}, {std, "half"}}, "metadata " + std + ": expected a number, got \"half\""},
        {{{mean, "0.5 "}, {std, "1"}}, "metadata " + mean + ": expected a number, got \"0.5 \""},
        {{{mean, "nan"}, {std, "1"}}, "metadata " + mean + ": expected a number, got \"nan\""},
        {{{mean, "0"}, {std, "0"}}, both},
        {{{mean, "0"}, {std, "-1"}}, both},
        {{{mean, "0"}, {std, "1e-50"}}, both},
        {{{mean, "1e39"}, {std, "1"}}, both},
        {{{mean, "-3e38"}, {std, "1e-37"}},
         "expected numbers that make finite f32 of pixels, got -3e+38 and 1e-37"},
        {{{mean, "0"}, {std, "1e-38"}}, both}}) {
    const std::string err = refused(metadata);
    EXPECT_NE(err.find(text), std::string::npos) << text << " is missing in " << err;
  }
  model.save_onnx(path, {.metadata = {{mean, "0"}, {std, "1"}}});
  expect_success(train(quick_for("1") + Arguments{"--onnx", path}));
}

TEST_F(TrainerOnnxRefusal, SaysWhatAFileWithOpenSizesHasToSay) {
  OnnxBytes open;
  open.input("x", {"batch", 1, "height", 28}).output("y").node({"Relu", {"x"}, {"y"}});
  const std::string path = (directory_ / "open.onnx").string();
  write_file(path, open.file());
  const std::string err = train(quick + Arguments{"--onnx", path}).err;
  EXPECT_NE(err.find("a dimension 2 of any size; the file has to say what \"height\" is"),
            std::string::npos)
      << err;
}

TEST_F(TrainerOnnxRefusal, NamesOptionsOfTheTrainerAndNotFieldsOfTheLibrary) {
  EXPECT_EQ(
      train(quick_file() + Arguments{"--onnx-constants", "fc.*,none*"}).err,
      "penstock-train: --onnx-constants: no initializer that is read matches \"none*\"; there "
      "are: conv1.weight, conv1.bias, bn1.weight, bn1.bias, bn1.running_mean, bn1.running_var, "
      "conv2.weight, conv2.bias, bn2.weight, bn2.bias, bn2.running_mean, bn2.running_var and 2 "
      "more\n");
  // The name of a file that looks like a text about the option makes none of the refusal.
  const std::string path = (directory_ / "--onnx-constants: x.onnx").string();
  write_file(path, "");
  const std::string err = train(quick + Arguments{"--onnx", path}).err;
  EXPECT_TRUE(err.starts_with("penstock-train: --onnx: ONNX file " + path + ": ")) << err;
  EXPECT_EQ(train(quick_file() + Arguments{"--stages", "layer1|layer4"}).err,
            "penstock-train: --stages: stage 0: there is no block \"layer1\"; the model has no "
            "blocks; --begin-block begins blocks at its layers\n");
}

}  // namespace
}  // namespace penstock::testing
