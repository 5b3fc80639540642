// ReturnedInputs: at both ends of a call, the inputs of earlier ones, and of this one, that the
// engine has done with are released: on the thread that calls.
#pragma once

#include "engine/running_model.hpp"

namespace penstock {

class ReturnedInputs {
 public:
  explicit ReturnedInputs(RunningModel& model) noexcept : model_(model) { model_.release_inputs(); }
  ~ReturnedInputs() { model_.release_inputs(); }
  ReturnedInputs(const ReturnedInputs&) = delete;
  ReturnedInputs& operator=(const ReturnedInputs&) = delete;

 private:
  RunningModel& model_;
};

}  // namespace penstock
