// A CallGate lets one call of an object pass at a time. While that call is under way, any other
// call is refused, even if a function that the first call has called makes it.
#pragma once

#include <atomic>
#include <string>
#include <string_view>

#include "penstock/error.hpp"

namespace penstock {

class CallGate {
 public:
  /// A Call is a call of the object, which is under way until the Call is destroyed.
  class Call {
   public:
    /// Begins a call of the object that errors call `subject`. `call` is a text such as "next()",
    /// which lives as long as the program.
    /// @throws Error busy if another call is under way.
    Call(CallGate& gate, std::string_view subject, const char* call) : gate_(gate) {
      const char* other = nullptr;
      if (!gate.under_way_.compare_exchange_strong(other, call))
        throw Error(Errc::busy, std::string(subject) + ": " + call + " was called while " + other +
                                    " is under way; it takes one call at a time");
    }
    ~Call() { gate_.under_way_.store(nullptr); }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

   private:
    CallGate& gate_;
  };

 private:
  std::atomic<const char*> under_way_{nullptr};
};

}  // namespace penstock
