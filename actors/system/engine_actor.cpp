#include "actors/system/engine_actor.hpp"

#include "actors/system/errors.hpp"

namespace penstock::actors {
namespace {

struct Drop {
  template <class... Any>
  caf::intrusive::task_result operator()(const Any&...) const noexcept {
    return caf::intrusive::task_result::resume;
  }
};

}  // namespace

void drop_mail(caf::scheduled_actor& actor) noexcept {
  Drop drop;
  while (actor.mailbox().queue().new_round(1000, drop).consumed_items) continue;
}

caf::error reason_of(const std::exception_ptr& exception, caf::error& out_of_memory) noexcept {
  try {
    return to_caf(exception);
  } catch (...) {
    return std::move(out_of_memory);
  }
}

}  // namespace penstock::actors
