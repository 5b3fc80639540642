#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "engine/fit/best_epoch.hpp"
#include "engine/fit/field_match.hpp"
#include "engine/fit/first_not_finite.hpp"
#include "engine/model/model_access.hpp"
#include "graph/values/hosts_thread.hpp"
#include "graph/values/number_range.hpp"
#include "penstock/error.hpp"
#include "penstock/fit_callbacks.hpp"

namespace penstock {
namespace {

constexpr const char* finite_subject = "finite check";

/// A FiniteWatch looks at the losses and weights of a training.
class FiniteWatch {
 public:
  explicit FiniteWatch(const FiniteCheck& check) : check_(check) {}

  void set_training_model(const TrainingModel& training) {
    end();  // A training that was cancelled or has failed has not ended this object's work.
    training_.emplace(ModelAccess::handle(training));
  }

  void set_data(const DataLoader& data) {
    expect_training();
    fields_.emplace(finite_subject, training_->inputs(), data.fields());
  }

  void before_step(const Batch& batch) {
    if (!check_.find_layer) return;
    expect_training();
    expect_called(fields_.has_value(), "set_data");
    start_ = {fields_->of(batch), weights_of(ModelAccess::trained(*training_)),
              training_->optimizer_state()};
  }

  void after_step(const StepRecord& step, const StepResult& result) {
    epoch_ = step.epoch;
    step_ = step.step;
    if (!std::isfinite(result.mean_loss))
      fail(std::string("the loss is ") +
           (std::isnan(result.mean_loss) ? "nan" : number_text(result.mean_loss)));
    if (check_.find_layer) expect_finite_weights();
    start_ = {};
  }

  void after_epoch() {
    if (!check_.find_layer) expect_finite_weights();
  }

  void end() {
    start_ = {};
    fields_.reset();
    training_.reset();
  }

 private:
  static void expect_called(bool was_called, const std::string& function) {
    if (!was_called)
      throw Error(Errc::invalid_argument, std::string(finite_subject) + ": expected " + function +
                                              " to be called before the first step, as fit() does");
  }

  void expect_training() const { expect_called(training_.has_value(), "set_training_model"); }

  void expect_finite_weights() {
    expect_training();
    if (const auto weight = not_finite(weights_of(ModelAccess::trained(*training_)))) fail(*weight);
  }

  /// Ends the training, for the reason `what`. Nothing of the training is kept.
  [[noreturn]] void fail(const std::string& what) {
    const std::string text = std::string(finite_subject) + ": epoch " + std::to_string(epoch_) +
                             ", step " + std::to_string(step_) + ": " + what + "; ";
    const StepStart start = std::exchange(start_, {});
    const std::optional<TrainingModel> training = std::exchange(training_, std::nullopt);
    end();
    if (!check_.find_layer)
      throw Error(Errc::invalid_data, text + "FiniteCheck::find_layer = true finds the layer");
    std::string found;
    try {
      found = first_not_finite(*training, start);
    } catch (const Error& error) {
      found = std::string("the step cannot be computed once more: ") + error.what();
    }
    throw Error(Errc::invalid_data, text + found);
  }

  FiniteCheck check_;
  // `training_` is a handle of its own, because a training that was cancelled or has failed calls
  // no end(). It is empty outside of fit() otherwise, as `fields_` is.
  std::optional<TrainingModel> training_;
  std::optional<FieldMatch> fields_;
  StepStart start_;  // `start_` is empty except during a step whose layers are to be found.
  int epoch_ = 0;
  std::int64_t step_ = 0;
};

}  // namespace

FitCallback stop_when_not_finite(const FiniteCheck& check) {
  return on_hosts_thread(finite_subject, [&] {
    const auto watch = std::make_shared<FiniteWatch>(check);
    FitCallback callback;
    callback.set_training_model = [watch](TrainingModel& training) {
      watch->set_training_model(training);
    };
    callback.set_data = [watch](const DataLoader& data) {
      on_hosts_thread(finite_subject, [&] { watch->set_data(data); });
    };
    callback.on_step_begin = [watch](const Batch& batch) {
      on_hosts_thread(finite_subject, [&] { watch->before_step(batch); });
    };
    callback.on_step_end = [watch](const StepRecord& step, const StepResult& result) {
      on_hosts_thread(finite_subject, [&] { watch->after_step(step, result); });
      return Next::go_on;
    };
    callback.on_epoch_end = [watch](const EpochRecord&) {
      on_hosts_thread(finite_subject, [&] { watch->after_epoch(); });
      return Next::go_on;
    };
    callback.on_fit_end = [watch](const History&) { watch->end(); };
    return callback;
  });
}

}  // namespace penstock
