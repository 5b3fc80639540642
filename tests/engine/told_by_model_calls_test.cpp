// A Model's own calls read the weights from the training model that has the newest ones. These
// tests check that the log of the training model is told so when the call is done, and may then do
// whatever a host may do after the call.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "penstock/output_file.hpp"
#include "penstock/penstock.hpp"
#include "tests/engine/same_weights.hpp"
#include "tests/engine/short_call_models.hpp"
#include "tests/support/temporary_directory.hpp"

namespace penstock::testing {
namespace {

/// A Host is a host with a model that has trained. The log of the model calls `at_log` once.
class Host {
 public:
  Host() { training.step(samples(full)); }

  Model model = network();
  Tensor read;                   // This is the tensor that a call has read.
  Model copy;                    // This is the model that a call has made.
  std::function<void()> at_log;  // The log calls this at its next line.

 private:
  Options logging_options() {
    Options options = with_limit(0);
    options.runtime.log_level = LogLevel::debug;
    options.runtime.log = [this](std::string_view) {
      if (const auto act = std::exchange(at_log, nullptr)) act();
    };
    return options;
  }

 public:
  TrainingModel training{model, logging_options(), AdamW{.learning_rate = 0.1}};
  InferenceModel serving{model, with_limit(0)};
  TemporaryDirectory directory;
};

using Acts = std::map<std::string, std::function<void(Host&)>>;

/// Returns every call of a Model that reads weights from a training model.
Acts calls() {
  return {
      {"weight", [](Host& host) { host.read = host.model.weight("fc.weight"); }},
      {"set_weight",
       [](Host& host) {
         host.model.set_weight("fc.bias", Tensor({3}, {1.f, 2.f, 3.f}));
       }},
      {"clone", [](Host& host) { host.copy = host.model.clone(); }},
      {"save_weights", [](Host& host) { host.model.save_weights(host.directory / "weights"); }},
      {"save_weights into a file",
       [](Host& host) {
         OutputFile file(host.directory / "weights");
         host.model.save_weights(file);
         file.commit();
       }},
      {"save_onnx", [](Host& host) { host.model.save_onnx(host.directory / "network.onnx"); }},
      {"a layer's function",
       [](Host& host) {
         Sequential chain(host.model, host.model.input("of chain", {2}));
         chain.add([&](Model& model, Value x) {
           host.read = model.weight("fc.weight");
           return model.linear("in chain", x, 2);
         });
       }},
  };
}

/// Returns what a host may do after a call of a Model.
Acts acts() {
  return {
      {"weight", [](Host& host) { host.model.weight("fc.weight"); }},
      {"set_weight",
       [](Host& host) {
         host.model.set_weight("fc.bias", Tensor({3}, {4.f, 5.f, 6.f}));
       }},
      {"clone", [](Host& host) { host.model.clone(); }},
      {"step", [](Host& host) { host.training.step(samples(full)); }},
      {"short step", [](Host& host) { host.training.step(samples(remainder)); }},
      {"run", [](Host& host) { host.serving.run(samples(full)); }},
      {"a new layer",
       [](Host& host) { host.model.linear("more", host.model.input("more", {2}), 2); }},
      {"a new training model",
       [](Host& host) { TrainingModel(host.model, with_limit(0)).step(samples(full)); }},
      {"a handle that goes", [](Host& host) { host.model = Model(host.model); }},
  };
}

void expect_same(Host& a, Host& b) {
  EXPECT_EQ(a.model.parameters().size(), b.model.parameters().size());
  expect_same_weights(a.model, b.model);
  EXPECT_EQ(a.training.updates(), b.training.updates());
  ASSERT_EQ(static_cast<bool>(a.read), static_cast<bool>(b.read));
  EXPECT_TRUE(!a.read || same_bits(a.read, b.read));
  EXPECT_EQ(a.copy.stage_assignment().size(), b.copy.stage_assignment().size());
  ASSERT_EQ(a.copy.parameters().size(), b.copy.parameters().size());
  expect_same_weights(a.copy, b.copy);
  if (a.copy.parameters().empty()) return;
  // The run shows that the copy's weights fit its network.
  InferenceModel(a.copy, with_limit(0)).run(samples(full));
}

void expect_same_files(Host& a, Host& b) {
  Model read_a = network(), read_b = network();
  read_a.load_weights(a.directory / "weights");
  read_b.load_weights(b.directory / "weights");
  expect_same_weights(read_a, read_b);
}

TEST(ToldByModelCalls, D14_ALogDoesWhatAHostDoesWhenTheCallHasReturned) {
  for (const auto& [call_name, call] : calls())
    for (const auto& [act_name, act] : acts()) {
      SCOPED_TRACE(call_name + ", then " + act_name);
      Host acting, reference;
      acting.at_log = [&, do_it = act] { do_it(acting); };
      call(acting);
      EXPECT_FALSE(acting.at_log) << "the log was told nothing";
      call(reference);
      act(reference);
      expect_same(acting, reference);
      if (call_name.starts_with("save_weights")) expect_same_files(acting, reference);
    }
}

TEST(ToldByModelCalls, D14_ACallIsDoneAlthoughTheLogThrows) {
  Host host;
  host.at_log = [] { throw 7; };
  const Tensor bias({3}, {1.f, 2.f, 3.f});
  EXPECT_THROW(host.model.set_weight("fc.bias", bias), int);
  EXPECT_TRUE(same_bits(host.model.weight("fc.bias"), bias));
}

}  // namespace
}  // namespace penstock::testing
