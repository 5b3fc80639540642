#include "penstock/model_average.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/fit/best_epoch.hpp"
#include "engine/fit/saved_numbers.hpp"
#include "engine/model/model_access.hpp"
#include "graph/values/hosts_thread.hpp"
#include "graph/values/number_range.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

constexpr const char* average_subject = "model average";

void check(const ModelAverageOptions& options) {
  const auto refuse = [](const std::string& what) {
    throw Error(Errc::invalid_argument, std::string(average_subject) + ": " + what);
  };
  if (!(options.decay >= 0 && options.decay < 1))
    refuse("decay: expected 0 or more and below 1, got " + number_text(options.decay));
  if (options.every_steps < 1)
    refuse("every_steps: expected 1 or more, got " + std::to_string(options.every_steps));
}

Model checked_clone(const Model& model, const ModelAverageOptions& options) {
  return on_hosts_thread(average_subject, [&] {
    check(options);
    return model.clone();
  });
}

/// Returns average + inflow·(newest - average).
Tensor followed(const Tensor& average, const Tensor& newest, float inflow) {
  const auto from = average.as<float>(), to = newest.as<float>();
  std::vector<float> values(from.begin(), from.end());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] += inflow * (to[i] - values[i]);
  return {average.shape(), std::span<const float>(values)};
}

}  // namespace

ModelAverage::ModelAverage(const Model& model, const ModelAverageOptions& options)
    : model_(model), average_(checked_clone(model, options)), options_(options) {}

void ModelAverage::update() const {
  on_hosts_thread(average_subject, [&] {
    const auto inflow = static_cast<float>(1 - options_.decay);
    std::vector<NamedTensor> updated;
    for (const ParameterInfo& info : average_.parameters()) {
      Tensor newest = model_.weight(info.name);
      if (!info.buffer) newest = followed(average_.weight(info.name), newest, inflow);
      updated.push_back({info.name, std::move(newest)});
    }
    ModelAccess::set_weights(average_, "ModelAverage::update", updated);
  });
}

FitCallback ModelAverage::callback() const {
  return on_hosts_thread(average_subject, [&] {
    FitCallback callback;
    // Copies of the callback share the number of steps that are left until the next update.
    const auto left = std::make_shared<std::int64_t>(options_.every_steps);
    callback.on_step_end = [average = *this, left](const StepRecord&, const StepResult&) {
      if (--*left > 0) return Next::go_on;
      *left = average.options_.every_steps;
      average.update();
      return Next::go_on;
    };
    callback.state_name = average_subject;
    callback.save_state = [average = *this, left] {
      return on_hosts_thread(average_subject, [&] {
        SavedState state{.tensors = {{"left", tensor_of(std::span(left.get(), 1))}}};
        add_part(state, "weights/", {.tensors = weights_of(average.average_)});
        return state;
      });
    };
    callback.load_state = [average = *this, left](const SavedState& state) {
      on_hosts_thread(average_subject, [&] {
        const std::int64_t steps_left = whole_numbers(state, "left", 1)[0];
        ModelAccess::set_weights(average.average_, average_subject,
                                 part_of(state, "weights/").tensors);
        *left = std::clamp<std::int64_t>(steps_left, 1, average.options_.every_steps);
      });
    };
    return callback;
  });
}

}  // namespace penstock
