#include "graph/values/custom_ops.hpp"

#include <map>
#include <mutex>

#include "graph/values/text.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

struct Registry {
  std::mutex mutex;
  std::map<std::string, CustomOp, std::less<>> ops;
};

/// Returns the registry, which is never destroyed, because models may outlive static objects.
Registry& registry() {
  static Registry& instance = *new Registry;
  return instance;
}

[[noreturn]] void refuse(const std::string& text) {
  throw Error(Errc::invalid_argument, "register_op: " + text);
}

}  // namespace

void register_op(CustomOp op) {
  if (op.name.empty()) refuse("expected a name, got an empty one");
  if (!op.shape || !op.forward)
    refuse("expected op " + quoted_text(op.name) + " to have the functions shape and forward");
  const std::lock_guard lock(registry().mutex);
  std::string name = op.name;
  if (!registry().ops.try_emplace(std::move(name), std::move(op)).second)
    refuse("expected a new name, got that of another op, " + quoted_text(op.name));
}

const CustomOp* find_custom_op(std::string_view name) {
  const std::lock_guard lock(registry().mutex);
  const auto found = registry().ops.find(name);
  return found == registry().ops.end() ? nullptr : &found->second;
}

std::vector<std::string> custom_op_names() {
  const std::lock_guard lock(registry().mutex);
  std::vector<std::string> names;
  for (const auto& [name, op] : registry().ops) names.push_back(name);
  return names;
}

}  // namespace penstock
