#include "engine/model/parameter_store.hpp"

#include <algorithm>
#include <exception>
#include <new>
#include <utility>

#include "engine/names/known_names.hpp"
#include "graph/values/text.hpp"

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
  reserve(1);  // With this room, either both lists grow or neither does.
  values_.push_back(std::move(value));
  parameters_.push_back(std::move(info));
  ++version_;
}

void ParameterStore::keep(std::size_t count) {
  if (count == parameters_.size()) return;
  names_.keep(count);
  parameters_.resize(count);
  values_.resize(count);
  ++version_;
}

const std::vector<Tensor>& ParameterStore::newest() {
  fetch();
  return values_;
}

Tensor ParameterStore::newest(const std::string& name) {
  const std::size_t index = position(name);
  return newest()[index];
}

void ParameterStore::set(const std::string& name, const Tensor& value) {
  const std::size_t index = position(name);
  expect(index, value);
  // The store holds no memory of the host's, whose deleter would run inside some later call.
  Tensor copy(value.shape(), value.as<float>());
  fetch();
  values_[index] = std::move(copy);
  ++version_;
}

void ParameterStore::replace(std::vector<Tensor> values) {
  if (values.size() != values_.size())
    throw Error(Errc::shape_mismatch, subject() + ": expected " + std::to_string(values_.size()) +
                                          " parameters, got " + std::to_string(values.size()));
  for (std::size_t i = 0; i < values.size(); ++i) expect(i, values[i]);
  values_ = std::move(values);
  newer_ = nullptr;
  loss_.reset();
  ++version_;
}

void ParameterStore::leave_to(WeightSource& source, std::span<const std::size_t> held) {
  if (newer_ != &source) fetch();
  let_have(source, held);
}

std::uint64_t ParameterStore::mark_newer(WeightSource& source,
                                         std::span<const std::size_t> held) noexcept {
  let_have(source, held);
  return ++version_;
}

void ParameterStore::let_have(WeightSource& source, std::span<const std::size_t> held) noexcept {
  newer_ = &source;
  held_ = held;
  for (const std::size_t position : held) values_[position] = Tensor();
}

void ParameterStore::take_from(WeightSource& source) {
  if (newer_ != &source) return;
  read_newer();
  newer_ = nullptr;
  source.weights_taken();
}

void ParameterStore::detach(WeightSource& source) noexcept {
  if (newer_ != &source) return;
  try {
    read_newer();
  } catch (const Error& error) {
    lose(error.code(), error.what());
  } catch (const std::bad_alloc&) {
    lose(Errc::out_of_memory, nullptr);
  } catch (const std::exception& error) {
    lose(Errc::internal, error.what());
  }
  newer_ = nullptr;
}

std::size_t ParameterStore::position(const std::string& name) {
  const auto name_of = [this](std::size_t i) -> const std::string& { return parameters_[i].name; };
  if (const auto found = names_.find(parameters_.size(), name_of, name)) return *found;
  throw Error(Errc::invalid_argument, subject() + ": there is no parameter " + quoted_text(name) +
                                          instead_of(name, parameters_, &ParameterInfo::name));
}

void ParameterStore::expect(std::size_t index, const Tensor& value) const {
  const ParameterInfo& info = parameters_[index];
  if (value && value.dtype() == DType::f32 && value.shape() == info.shape) return;
  const std::string got =
      value ? std::string(to_string(value.dtype())) + to_string(value.shape()) : "an empty tensor";
  throw Error(Errc::shape_mismatch, subject() + ": parameter " + quoted_text(info.name) +
                                        ": expected f32" + to_string(info.shape) + ", got " + got);
}

void ParameterStore::fetch() {
  if (loss_) throw Error(loss_->code, lost_text());
  if (!newer_) return;
  WeightSource& source = *newer_;
  read_newer();
  newer_ = nullptr;
  source.weights_taken();
}

// If the source throws, nothing has changed, and the next call reads the source again.
void ParameterStore::read_newer() {
  std::vector<Tensor> values = newer_->read_weights();
  if (values.size() != held_.size())
    throw Error(Errc::internal, "expected " + std::to_string(held_.size()) + " tensors, got " +
                                    std::to_string(values.size()));
  for (std::size_t i = 0; i < values.size(); ++i) expect(held_[i], values[i]);
  for (std::size_t i = 0; i < values.size(); ++i) values_[held_[i]] = std::move(values[i]);
  ++fetches_;
}

void ParameterStore::lose(Errc code, const char* why) noexcept {
  ++version_;
  loss_ = Loss{code, {}};
  if (!why) return;
  try {
    loss_->why = why;
  } catch (const std::bad_alloc&) {
    // If there is no memory for the text, lost_text() names the code.
  }
}

std::string ParameterStore::subject() const {
  return "model " + quoted_text(model_);
}

std::string ParameterStore::lost_text() const {
  return subject() +
         ": the newest weights were lost when the training model that held them was destroyed, "
         "for they could not be read; load_weights() replaces them: " +
         (loss_->why.empty() ? std::string(to_string(loss_->code)) : loss_->why);
}

}  // namespace penstock
