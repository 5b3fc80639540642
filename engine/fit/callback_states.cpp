#include "engine/fit/callback_states.hpp"

#include <set>
#include <string>

#include "graph/values/out_of_memory.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

[[noreturn]] void refuse_state(const std::string& what) {
  throw Error(Errc::invalid_argument, "fit: callbacks: " + what);
}

std::string state_of(const FitCallback& callback) {
  return "callback " + callback.state_name;
}

}  // namespace

void check_states(std::span<const FitCallback> callbacks) {
  std::set<std::string> names;
  for (const FitCallback& callback : callbacks) {
    if (!callback.save_state && !callback.load_state) continue;
    if (!callback.save_state || !callback.load_state)
      refuse_state("expected save_state and load_state, got one of them for the state " +
                   quoted_text(callback.state_name));
    if (!names.insert(callback.state_name).second)
      refuse_state("expected states of different names, got " + quoted_text(callback.state_name) +
                   " twice; FitCallback::state_name tells them apart");
  }
}

void check_states(std::span<const FitCallback> callbacks, const Checkpoint& checkpoint) {
  for (const FitCallback& callback : callbacks)
    if (callback.load_state && !checkpoint.states.contains(state_of(callback)))
      refuse_state("expected a checkpoint with the state " + quoted_text(callback.state_name) +
                   ", got one of a training without such a callback");
}

void save_states(std::span<const FitCallback> callbacks, Checkpoint& checkpoint) {
  for (const FitCallback& callback : callbacks)
    if (callback.save_state)
      checkpoint.states[state_of(callback)] = call_host([&] { return callback.save_state(); });
}

void load_states(std::span<const FitCallback> callbacks, const Checkpoint& checkpoint) {
  for (const FitCallback& callback : callbacks)
    if (callback.load_state)
      call_host([&] { callback.load_state(checkpoint.states.at(state_of(callback))); });
}

}  // namespace penstock
