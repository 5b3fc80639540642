// These tests check that the construction of a model is refused if the machine has no memory for
// the model.

#include <gtest/gtest.h>

#include "penstock/inference_model.hpp"
#include "tests/support/refusal.hpp"

// Without this option, AddressSanitizer would end the process if new (nothrow) has to return null.
extern "C" const char* __asan_default_options() {
  return "allocator_may_return_null=1";
}

namespace penstock {
namespace {

TEST(InferenceModelMemory, ThatIsNotThereIsRefusedByTheConstructor) {
  Model model("huge");
  const Value x = model.input("x", {std::int64_t{1} << 24});
  model.output("y", model.gelu(model.tanh(model.sigmoid(x))));
  const auto make = [&] { InferenceModel inference(model, {.batch_size = 1 << 20}); };
  EXPECT_TRUE(
      testing::refusal(Errc::out_of_memory, make).starts_with("no memory for a tensor of "));
}

}  // namespace
}  // namespace penstock
