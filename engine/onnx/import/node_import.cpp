#include "engine/onnx/import/node_import.hpp"

#include <utility>

#include "engine/onnx/folding/fold_call.hpp"
#include "penstock/error.hpp"

namespace penstock {

Imported& NodeImport::input(std::size_t i) const {
  expect(has(i), "expected an input number " + std::to_string(i) + ", got none");
  return *inputs_[i];
}

double NodeImport::real(std::string_view name, double fallback) const {
  const OnnxAttribute* const attribute = node.find(name);
  return attribute && attribute->real ? static_cast<double>(*attribute->real) : fallback;
}

std::string NodeImport::text(std::string_view name, const std::string& fallback) const {
  const OnnxAttribute* const attribute = node.find(name);
  return attribute && attribute->text ? *attribute->text : fallback;
}

const Imported& NodeImport::known(std::size_t i) const {
  const Imported& x = input(i);
  if (x.is_known()) return x;
  const std::string text = "input " + std::to_string(i) +
                           " has to be known when the model is "
                           "imported";
  expect_supported(!x.sources.is_empty(), text + ", and depends on parameters");
  throw NeededInputs{x.sources, text};
}

std::vector<std::int64_t> NodeImport::known_integers(std::size_t i) const {
  const Tensor& tensor = NetworkImport::settled(known(i));
  network.computed_count().add_elements(static_cast<std::uint64_t>(tensor.elements()));
  return integers_of(tensor);
}

std::array<std::vector<std::int64_t>, probes> NodeImport::probed_integers(std::size_t i) const {
  const Imported& x = known(i);
  if (x.known[0].elements() != x.known[1].elements())
    throw MixedSamples{"the number of elements of input " + std::to_string(i) +
                       " depends on the number of samples"};
  for (const Tensor& tensor : x.known)
    network.computed_count().add_elements(static_cast<std::uint64_t>(tensor.elements()));
  return {integers_of(x.known[0]), integers_of(x.known[1])};
}

double NodeImport::known_number(std::size_t i) const {
  const Tensor& tensor = NetworkImport::settled(known(i));
  expect(tensor.elements() == 1, "expected one number as input " + std::to_string(i));
  return numbers_of(tensor)[0];
}

std::vector<std::int64_t> NodeImport::integers(std::string_view name, std::size_t i) const {
  if (node.find(name)) return integers(name);
  return has(i) ? known_integers(i) : std::vector<std::int64_t>{};
}

Imported NodeImport::like_first(const Value& value) const {
  return result(value, input(0).type, input(0).placement);
}

Imported NodeImport::result(const Value& value, OnnxType type,
                            const std::optional<Placement>& placement) const {
  std::vector<const Imported*> from;
  for (const Imported* x : inputs_)
    if (x) from.push_back(x);
  return network.computed(value, type, placement, from);
}

void NodeImport::expect_supported(bool holds, const std::string& text) {
  if (!holds) throw Error(Errc::unsupported, text);
}

void NodeImport::expect_listed(std::int64_t count) {
  expect_supported(count <= most_folded, "one of its axes has " + std::to_string(count) +
                                             " elements, and at most " +
                                             std::to_string(most_folded) + " can be listed");
}

void NodeImport::count_list(std::int64_t count) const {
  expect_listed(count);
  network.computed_count().add_list(static_cast<std::uint64_t>(count));
}

void NodeImport::count_floats(std::int64_t count) const {
  expect_listed(count);
  network.computed_count().add_bytes(sizeof(float) * static_cast<std::uint64_t>(count));
}

void NodeImport::expect(bool holds, const std::string& text) {
  if (!holds) throw Error(Errc::corrupt_file, text);
}

}  // namespace penstock
