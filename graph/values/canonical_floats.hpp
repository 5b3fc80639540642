// A CanonicalFloats gives the thread that makes it the floating-point environment that the engine's
// promises need, for as long as the object lives: results are rounded to nearest, no floating-point
// exception traps, and denormals are not flushed to zero. Afterwards the host's environment is as
// it was before, without a flag of any floating-point exception that was raised meanwhile.
#pragma once

#include <cfenv>

namespace penstock {

/// The constructor of a CanonicalFloats sets the floating-point environment of the calling thread,
/// and the destructor restores the host's environment. On x86-64, both together take some
/// nanoseconds, unless the host has changed the modes of long double. Objects of this class may be
/// nested.
class CanonicalFloats {
 public:
  CanonicalFloats() noexcept;
  ~CanonicalFloats();
  CanonicalFloats(const CanonicalFloats&) = delete;
  CanonicalFloats& operator=(const CanonicalFloats&) = delete;

 private:
  std::fenv_t before_;
  // The other two members have a meaning on x86-64 alone. `mxcsr_` has the modes of float and
  // double that the thread had before.
  unsigned mxcsr_ = 0;
  // `keeps_rest_` says that the rest of the environment, which is that of long double, was
  // canonical already, without flags, so that `before_` is empty.
  bool keeps_rest_ = false;
};

/// A KeptFloats keeps the floating-point environment of the calling thread: when the object is
/// destroyed, the environment is again the one in which the object was made. A function of the
/// host's that the engine calls may leave another rounding mode or traps behind, with which the
/// engine must not go on.
class KeptFloats {
 public:
  KeptFloats() noexcept;
  ~KeptFloats();
  KeptFloats(const KeptFloats&) = delete;
  KeptFloats& operator=(const KeptFloats&) = delete;

 private:
  std::fenv_t kept_;
};

}  // namespace penstock
