#include "graph/compile/advice.hpp"

#include <gtest/gtest.h>

namespace penstock::graph {
namespace {

std::string_view name(Option option) {
  switch (option) {
    case Option::weights_on_ipu:
      return "on_ipu";
    case Option::offload_weights:
      return "weights";
    case Option::offload_activations:
      return "activations";
    case Option::ipu_memory:
      return "memory";
    default:
      return {};
  }
}

TEST(Advice, OpensANoteWithItsOptionIfThatHasAName) {
  EXPECT_EQ(worded(Note{Option::offload_weights, "nothing is kept"}, name),
            "weights: nothing is kept");
  EXPECT_EQ(worded(Note{Option::threads, "they take turns"}, name), "they take turns");
  EXPECT_EQ(worded(Note{.text = "it is not trained"}, name), "it is not trained");
}

TEST(Advice, NamesTheOptionsOfEachRemedy) {
  const Remedy on{.text = "this and that",
                  .turned_on = {Option::offload_activations, Option::offload_weights},
                  .consequence = "which needs 5 kB"};
  const Remedy off{.text = "less", .turned_off = {Option::weights_on_ipu}};
  const Remedy unnamed{.text = "another schedule", .turned_on = {Option::schedule}};
  EXPECT_EQ(worded(MemoryAdvice{"it is too large", {on, off, unnamed}, "smaller stages"}, name),
            "memory: it is too large; what would help: this and that (activations, weights), which "
            "needs 5 kB; or less (not on_ipu); or another schedule; or smaller stages");
}

}  // namespace
}  // namespace penstock::graph
