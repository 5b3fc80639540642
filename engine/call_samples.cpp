#include "engine/call_samples.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "graph/values/element_type.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

std::string factors(const CallSize& size) {
  return std::string("batch size x ") + (size.training ? "gradient accumulation x " : "") +
         "device iterations x " + (size.input_group_size > 1 ? "input groups" : "replicas");
}

/// Returns whether a call whose outputs have `mode` may have micro-batches of two sizes. It may not
/// if the mode selects micro-batches or sums them up, except that a step may return `final` of its
/// last update.
bool allows_two_sizes(OutputMode mode, bool training) {
  return mode == OutputMode::automatic || mode == OutputMode::all ||
         (training && mode == OutputMode::final);
}

/// Returns a mode, of the outputs or of an anchor, that does not allow two sizes, or nothing if all
/// modes allow them.
std::optional<OutputMode> mode_of_one_size(const OutputOptions& output, bool training) {
  if (!allows_two_sizes(output.mode, training)) return output.mode;
  for (const Anchor& anchor : output.anchors)
    if (!allows_two_sizes(anchor.mode, training)) return anchor.mode;
  return {};
}

/// Returns whether shapes are the same except for the sizes of axis 0 and of axis `dynamic`, which
/// may be 0, too.
bool differ_in_sizes_only(const Shape& a, const Shape& b, int dynamic) {
  const auto comparable = [&](const Shape& shape) { return shape.with(0, 1).with(dynamic, 1); };
  return a.rank() == b.rank() && comparable(a) == comparable(b);
}

/// Returns which sizes the dynamic axis of input number `i` may have, as an addition to its type.
std::string sizes_of(const DynamicLength& dynamic, std::size_t i) {
  if (dynamic.axes[i] == 0) return "";
  return " and " + std::to_string(dynamic.shortest) + " to " + std::to_string(dynamic.longest) +
         " on axis " + std::to_string(dynamic.axes[i]);
}

struct Found {
  std::int64_t position, element;
};

/// Returns the first element of `input`, whose elements are of the type T, for which `fits` is
/// false, or nothing if there is none.
template <class T>
std::optional<Found> first_other(const Tensor& input, const auto& fits) {
  const T* const begin = reinterpret_cast<const T*>(input.raw());
  const T* const end = begin + input.elements();
  const T* const bad = std::find_if_not(begin, end, fits);
  if (bad == end) return {};
  return Found{bad - begin, static_cast<std::int64_t>(*bad)};
}

std::string expected_elements(const graph::InputRange& range) {
  std::string text = "0 to " + std::to_string(range.end - 1);
  if (range.other && (*range.other < 0 || *range.other >= range.end))
    text += ", or " + std::to_string(*range.other) + ", which is left out";
  return text;
}

/// Refuses the element `bad` of `input`, which is input number `number`. The text calls it by the
/// word `element`, and says what was expected.
[[noreturn]] void refuse_element(const Tensor& input, std::size_t number, const graph::Plan& plan,
                                 const Found& bad, const std::string& element,
                                 const std::string& expected) {
  const std::int64_t per_sample = input.elements() / input.shape()[0];
  throw Error(Errc::invalid_data, "model " + quoted_text(plan.name) + ": input " +
                                      quoted_text(plan.inputs[number].name) + ": " + element + " " +
                                      std::to_string(bad.element) + " at sample " +
                                      std::to_string(bad.position / per_sample) + " of the " +
                                      (plan.training ? "step" : "run") + ": expected " + expected);
}

}  // namespace

std::int64_t samples_in(std::span<const Tensor> inputs, const graph::Plan& plan,
                        const DynamicLength& dynamic) {
  const auto refuse = [&](const std::string& text) {
    throw Error(Errc::shape_mismatch, "model " + quoted_text(plan.name) + ": " + text);
  };
  if (inputs.size() != plan.inputs.size())
    refuse("expected " + count_text(std::ssize(plan.inputs), "input tensor") + " (" +
           joined(plan.inputs, [](const auto& input) { return printable(input.name); }) +
           "), got " + std::to_string(inputs.size()));
  std::int64_t rows = -1;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto& [name, type] = plan.inputs[i];
    if (!inputs[i]) refuse("input " + quoted_text(name) + " is an empty tensor");
    const Shape& shape = inputs[i].shape();
    const bool fits =
        inputs[i].dtype() == type.dtype && differ_in_sizes_only(shape, type.shape, dynamic.axes[i]);
    if (!fits)
      refuse("input " + quoted_text(name) + ": expected " + graph::to_string(type) +
             " with any number of rows" + sizes_of(dynamic, i) + ", got " +
             graph::to_string(graph::TensorType{inputs[i].dtype(), shape}));
    if (rows >= 0 && shape[0] != rows)
      refuse("input " + quoted_text(name) + ": expected " + std::to_string(rows) +
             " rows like the inputs before it, got " + std::to_string(shape[0]));
    rows = shape[0];
  }
  return rows;
}

void expect_in_range(std::span<const Tensor> inputs, const graph::Plan& plan) {
  for (const graph::InputRange& range : plan.input_ranges) {
    const auto number = static_cast<std::size_t>(range.input);
    with_element_type(inputs[number].dtype(), [&]<class T>() {
      const auto bad = first_other<T>(inputs[number], [&](T element) {
        const auto wide = static_cast<std::int64_t>(element);
        return (wide >= 0 && wide < range.end) || wide == range.other;
      });
      if (bad)
        refuse_element(inputs[number], number, plan, *bad, range.element, expected_elements(range));
    });
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].dtype() != DType::boolean) continue;
    if (const auto bad = first_other<std::uint8_t>(inputs[i], [](auto byte) { return byte <= 1; }))
      refuse_element(inputs[i], i, plan, *bad, "byte", "0 or 1, of which a bool is made");
  }
}

void expect_samples(std::int64_t samples, const Options& options, const CallSize& size) {
  const auto refuse = [&](const std::string& expected) {
    throw Error(Errc::shape_mismatch, std::string(name_of(size)) + ": expected " + expected +
                                          ", got " + std::to_string(samples));
  };
  const std::int64_t most = size.samples(), iteration = samples_per_iteration(size);
  const auto full = [&] { return std::to_string(most) + " samples (" + factors(size) + ")"; };
  if (options.static_shapes && samples != most)
    refuse(full() + ", for options.static_shapes is set");
  if (samples < 1 || samples > most) refuse("1 to " + full());
  if (samples % iteration == 0) return;
  const auto multiple = [&] {
    return "a multiple of " + std::to_string(iteration) + " samples, for ";
  };
  if (options.topology.input_group_size > 1)
    refuse(multiple() + "replicas share their inputs (options.topology.input_group_size)");
  if (const auto mode = mode_of_one_size(options.output, size.training))
    refuse(multiple() + "the output mode is " + std::string(to_string(*mode)));
}

std::int64_t samples_per_iteration(const CallSize& size) {
  return size.samples() / size.device_iterations;
}

std::vector<MicroBatches> micro_batches_of_remainder(std::int64_t remainder, const CallSize& size) {
  std::vector<MicroBatches> result;
  std::int64_t batch = std::min(remainder, size.batch_size);
  if (size.training)
    while (remainder > 0 && remainder % batch != 0) --batch;
  if (remainder > 0) result.push_back({.count = remainder / batch, .samples = batch});
  if (remainder > 0 && remainder % batch != 0)
    result.push_back({.count = 1, .samples = remainder % batch});
  return result;
}

const char* name_of(const CallSize& size) {
  return size.training ? "step" : "run";
}

}  // namespace penstock
