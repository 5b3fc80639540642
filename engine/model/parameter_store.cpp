#include "engine/model/parameter_store.hpp"

#include <algorithm>
#include <exception>
#include <utility>

namespace penstock {

void ParameterStore::reserve(std::size_t count) {
  const auto make_room = [count](auto& list) {
    const std::size_t needed = list.size() + count;
    if (needed > list.capacity()) list.reserve(std::max(needed, 2 * list.capacity()));
  };
  make_room(parameters_);
  make_room(values_);
}

void ParameterStore::add(ParameterInfo info, Tensor value) {
  reserve(1);  // so that both lists grow, or neither
  values_.push_back(std::move(value));
  parameters_.push_back(std::move(info));
  ++version_;
}

void ParameterStore::keep(std::size_t count) {
  if (count == parameters_.size()) return;
  parameters_.resize(count);
  values_.resize(count);
  ++version_;
}

const std::vector<Tensor>& ParameterStore::newest() {
  fetch();
  return values_;
}

Tensor ParameterStore::newest(const std::string& name) {
  const std::size_t index = find(name);
  return newest()[index];
}

void ParameterStore::set(const std::string& name, const Tensor& value) {
  const std::size_t index = find(name);
  expect(index, value);
  fetch();
  values_[index] = value;
  ++version_;
}

void ParameterStore::replace(std::vector<Tensor> values) {
  if (values.size() != values_.size())
    throw Error(Errc::shape_mismatch, "model \"" + model_ + "\": expected " +
                                          std::to_string(values_.size()) + " parameters, got " +
                                          std::to_string(values.size()));
  accept(std::move(values));
  newer_ = nullptr;
  loss_.reset();
  ++version_;
}

std::uint64_t ParameterStore::mark_newer(WeightSource& source) {
  newer_ = &source;
  return ++version_;
}

void ParameterStore::take_from(WeightSource& source) {
  if (newer_ != &source) return;
  ++fetches_;
  accept(source.read_weights());
  newer_ = nullptr;
  source.weights_taken();
}

void ParameterStore::detach(WeightSource& source) noexcept {
  if (newer_ == &source) take_newer();
}

std::size_t ParameterStore::find(const std::string& name) const {
  const auto at = std::find_if(parameters_.begin(), parameters_.end(),
                               [&](const ParameterInfo& info) { return info.name == name; });
  if (at != parameters_.end()) return static_cast<std::size_t>(at - parameters_.begin());
  throw Error(Errc::invalid_argument,
              "model \"" + model_ + "\": there is no parameter \"" + name + "\"");
}

void ParameterStore::expect(std::size_t index, const Tensor& value) const {
  const ParameterInfo& info = parameters_[index];
  if (value && value.dtype() == DType::f32 && value.shape() == info.shape) return;
  const std::string got =
      value ? std::string(to_string(value.dtype())) + to_string(value.shape()) : "an empty tensor";
  throw Error(Errc::shape_mismatch, "model \"" + model_ + "\": parameter \"" + info.name +
                                        "\": expected f32" + to_string(info.shape) + ", got " +
                                        got);
}

void ParameterStore::fetch() {
  WeightSource* const source = loss_ ? nullptr : take_newer();
  if (loss_) throw *std::exchange(loss_, std::nullopt);
  if (source) source->weights_taken();
}

/// Whatever happens, the source is read only once: afterwards the host's copy is the newest.
WeightSource* ParameterStore::take_newer() noexcept {
  WeightSource* const source = std::exchange(newer_, nullptr);
  if (!source) return nullptr;
  ++fetches_;
  try {
    accept(source->read_weights());
  } catch (const Error& error) {
    ++version_;
    loss_ = lost(error.code(), error.what());
  } catch (const std::exception& error) {
    ++version_;
    loss_ = lost(Errc::internal, error.what());
  }
  return source;
}

void ParameterStore::accept(std::vector<Tensor> values) {
  if (values.size() > values_.size())
    throw Error(Errc::internal, "expected at most " + std::to_string(values_.size()) +
                                    " tensors, got " + std::to_string(values.size()));
  for (std::size_t i = 0; i < values.size(); ++i) expect(i, values[i]);
  std::move(values.begin(), values.end(), values_.begin());
}

Error ParameterStore::lost(Errc code, const std::string& why) const {
  return Error(code,
               "model \"" + model_ +
                   "\": the newest weights could not be read, those before them stay: " + why);
}

}  // namespace penstock
