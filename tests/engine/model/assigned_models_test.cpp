// These tests check that a call of a Model works on the model with which it has begun, even if a
// function of the host's assigns to the handle inside the call. Here the function is called in the
// middle of an allocation, as a new-handler of the host may be.
#include <gtest/gtest.h>

#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/files/weights_file.hpp"
#include "penstock/error.hpp"
#include "penstock/model.hpp"
#include "tests/support/allocation_counter.hpp"
#include "tests/support/temporary_directory.hpp"

namespace penstock::testing {
namespace {

const std::string weight = "fc.weight";

Model named(const std::string& name, std::uint64_t seed) {
  Model model(name, seed);
  model.linear("fc", model.input("x", {4}), 3);
  return model;
}

std::string bytes_of(const Tensor& tensor) {
  const auto bytes = std::as_bytes(tensor.as<float>());
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Returns the text of the Error that `call` throws, or "accepted".
std::string refusal_of(const auto& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

/// A Call makes a call of a model, and returns its result as text.
using Call = std::function<std::string(Model&)>;

/// Expects the same result of `call`, whichever of its allocations assigns another model to the
/// handle. No other handle keeps the model that the handle had before.
void expect_the_model_of_its_beginning(const std::string& title, const Call& call) {
  SCOPED_TRACE(title);
  const Model another = named("another model, of other weights and another name", 2);
  const auto made = [] { return named("the model with which the call has begun", 1); };
  Model undisturbed = made();
  const std::string expected = call(undisturbed);
  for (std::int64_t number = 1;; ++number) {
    Model handle = made();
    const AtAllocation assignment(number, [&] { handle = another; });
    const std::string result = call(handle);
    if (!assignment.reached()) break;
    ASSERT_EQ(result, expected) << "assigned at allocation " << number;
    ASSERT_LT(number, 20000);
  }
  EXPECT_EQ(bytes_of(another.weight(weight)), bytes_of(named("", 2).weight(weight)));
}

TEST(AssignedModels, AreNotThoseOfCallsThatHaveBegunBefore) {
  const TemporaryDirectory directory;
  const std::string path = directory / "weights", misfit = directory / "misfit";
  Model larger = named("larger", 3);
  larger.linear("more", larger.input("y", {4}), 3);
  larger.save_weights(misfit);
  const std::pair<const char*, Call> calls[] = {
      {"save_weights",
       [&](Model& model) {
         model.save_weights(path);
         return bytes_of(read_weights_file(path).tensors.at(weight));
       }},
      {"load_weights of a misfit",
       [&](Model& model) { return refusal_of([&] { model.load_weights(misfit); }); }},
      {"weight", [](Model& model) { return bytes_of(model.weight(weight)); }},
      {"clone", [](Model& model) {
         const Model copy = model.clone();
         return copy.name() + bytes_of(copy.weight(weight));
       }}};
  for (const auto& [title, call] : calls) expect_the_model_of_its_beginning(title, call);
}

}  // namespace
}  // namespace penstock::testing
