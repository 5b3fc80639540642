#include "engine/model/model_calls.hpp"

#include <utility>

#include "graph/values/text.hpp"
#include "penstock/error.hpp"

namespace penstock {

ModelCalls::ModelCalls(const std::string& model) : title_("model " + quoted_text(model)) {}

void ModelCalls::begin(std::string_view name) {
  // The process is checked before the mutex is locked: in a forked process, another thread of the
  // parent may have held the mutex, which nobody then releases.
  expect_own_process();
  const std::lock_guard lock(mutex_);
  if (depth_ > 0 && (!is_inside() || !undisturbed_.empty())) refuse(name);
  if (depth_++ > 0) return;
  thread_ = std::this_thread::get_id();
  name_ = name;
}

bool ModelCalls::begin_end() noexcept {
  if (!in_own_process()) return false;
  std::unique_lock lock(mutex_);
  left_.wait(lock, [this] { return depth_ == 0 || is_inside(); });
  if (depth_++ > 0) return true;
  thread_ = std::this_thread::get_id();
  name_ = "the destructor of a model";
  return true;
}

void ModelCalls::leave() noexcept {
  if (!in_own_process()) return;  // The process was forked during the call.
  const std::lock_guard lock(mutex_);
  if (--depth_ > 0) return;
  left_.notify_all();
}

void ModelCalls::expect_grown(std::string_view name) const {
  if (growth_)
    throw Error(Errc::busy, title_ + ": " + std::string(name) +
                                " cannot begin, for it was called from inside the function of a "
                                "layer, which may yet be taken back; call it when the layer has "
                                "been added");
}

void ModelCalls::refuse(std::string_view name) const {
  const std::string refused = title_ + ": " + std::string(name) + " cannot begin, for ";
  if (is_inside())
    throw Error(Errc::busy, refused + "it was called from inside " + std::string(undisturbed_) +
                                ", which is not done; call it when that has returned");
  throw Error(Errc::busy,
              refused + "another thread is in " + std::string(name_) +
                  "; call it again when that has returned (a Model::clone() can be read and "
                  "run beside it)");
}

ModelCall::ModelCall(ModelCalls& calls, std::string_view name) : calls_(calls), name_(name) {
  calls.begin(name);
}

ModelCall::~ModelCall() {
  calls_.leave();
}

ModelCall::Undisturbed::Undisturbed(const ModelCall& call)
    : calls_(call.calls_), before_(std::exchange(calls_.undisturbed_, call.name_)) {}

ModelCall::Undisturbed::~Undisturbed() {
  calls_.undisturbed_ = before_;
}

ModelEnd::ModelEnd(std::shared_ptr<ModelCalls> calls) noexcept
    : calls_(std::move(calls)), may_free_(calls_->begin_end()) {}

ModelEnd::~ModelEnd() {
  if (may_free_) calls_->leave();
}

}  // namespace penstock
