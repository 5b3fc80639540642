// ModelCalls say which call of a Model is under way. A Model, its copies and the training and
// inference models made of it share one ModelCalls, so that only one thread at a time is inside any
// of them. A call begins with a ModelCall, and a destructor with a ModelEnd.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "actors/system/owning_process.hpp"
#include "actors/threads/uncancelled.hpp"
#include "engine/log/log.hpp"
#include "engine/model/growth.hpp"
#include "graph/values/canonical_floats.hpp"

namespace penstock {

class ModelCalls : public LogScope {
 public:
  /// Serves the model called `model`.
  explicit ModelCalls(const std::string& model);
  ModelCalls(const ModelCalls&) = delete;
  ModelCalls& operator=(const ModelCalls&) = delete;

  /// Returns false in a process that was forked from the one that made the model.
  bool in_own_process() const noexcept { return process_.is_current(); }
  /// Checks that this process made the model. @throws Error closed in a process that was forked
  /// from the model's.
  void expect_own_process() const { process_.expect_current(title_); }

  /// While a Growing lives, layers are being added that may be taken back again: no model with
  /// these layers may be compiled, run or copied. A Growing is made inside a call.
  class Growing {
   public:
    explicit Growing(ModelCalls& calls)
        : calls_(calls), growth_(std::make_shared<Growth>(calls.growth_)) {
      calls.growth_ = growth_;
    }
    ~Growing() { calls_.growth_ = growth_->outer(); }
    Growing(const Growing&) = delete;
    Growing& operator=(const Growing&) = delete;

    /// Marks the growth, for all that share it, as taken back.
    void take_back() noexcept { growth_->take_back(); }

   private:
    ModelCalls& calls_;
    const std::shared_ptr<Growth> growth_;
  };
  /// Returns the innermost growth under way, or null. The function is called inside a call.
  std::shared_ptr<const Growth> growth() const noexcept { return growth_; }
  /// Checks, inside the call `name`, that no Growing lives. @throws Error busy if one does.
  void expect_grown(std::string_view name) const;

 private:
  friend class ModelCall;
  friend class ModelEnd;
  void begin(std::string_view name);
  bool begin_end() noexcept;
  void leave() noexcept;
  bool is_inside() const { return depth_ > 0 && thread_ == std::this_thread::get_id(); }
  [[noreturn]] void refuse(std::string_view name) const;

  const std::string title_;
  const actors::OwningProcess process_;
  std::mutex mutex_;
  std::condition_variable left_;
  std::thread::id thread_;          // `thread_` is the thread of the call under way.
  std::string_view name_;           // `name_` is the name of the outermost call under way.
  std::shared_ptr<Growth> growth_;  // `growth_` is the innermost growth, or null.
  // `depth_` is the number of calls under way: the outermost one, and the calls that are made
  // inside it. It is 0 if no call is under way.
  int depth_ = 0;
  // `undisturbed_` is the name of the call for which an Undisturbed lives; it is empty if there is
  // none.
  std::string_view undisturbed_ = {};
};

/// A ModelCall lives while a call is under way. The call's thread may make other calls meanwhile,
/// has the floating-point environment of CanonicalFloats, and is not cancelled.
class ModelCall {
 public:
  /// Begins the call `name`, a literal such as "TrainingModel::step". The model outlives the call.
  /// @throws Error busy, which names the call that is under way, if another thread is in a call, or
  /// this thread is in a call for which an Undisturbed lives; closed in a forked process.
  ModelCall(ModelCalls& calls, std::string_view name);
  ~ModelCall();
  ModelCall(const ModelCall&) = delete;
  ModelCall& operator=(const ModelCall&) = delete;

  /// While an Undisturbed lives, the call must not be disturbed: its own thread, in a function of
  /// the host's that the call has called, can make no other call either.
  class Undisturbed {
   public:
    explicit Undisturbed(const ModelCall& call);
    ~Undisturbed();
    Undisturbed(const Undisturbed&) = delete;
    Undisturbed& operator=(const Undisturbed&) = delete;

   private:
    ModelCalls& calls_;
    std::string_view before_;
  };

 private:
  actors::Uncancelled uncancelled_;
  CanonicalFloats floats_;
  ModelCalls& calls_;
  std::string_view name_;
};

/// A ModelEnd lives while the destructor of an object that shares `calls` runs. A destructor cannot
/// be refused, so a ModelEnd waits until no other thread is in a call. Its thread has the
/// floating-point environment of CanonicalFloats meanwhile.
class ModelEnd {
 public:
  explicit ModelEnd(std::shared_ptr<ModelCalls> calls) noexcept;
  ~ModelEnd();
  ModelEnd(const ModelEnd&) = delete;
  ModelEnd& operator=(const ModelEnd&) = delete;

  /// Returns false in a forked process, where nothing of the object may be freed: the threads that
  /// would end with it are the parent's, and one of them may have been changing it.
  bool may_free() const noexcept { return may_free_; }

 private:
  actors::Uncancelled uncancelled_;
  CanonicalFloats floats_;
  std::shared_ptr<ModelCalls> calls_;
  bool may_free_;
};

}  // namespace penstock
