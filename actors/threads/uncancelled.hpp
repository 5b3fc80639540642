// While an Uncancelled lives, pthread_cancel() does not end the thread that made it: the thread is
// cancelled, if it was asked to be, afterwards. A call that was left in its middle could be neither
// ended nor taken up again.
#pragma once

#include <pthread.h>

namespace penstock::actors {

class Uncancelled {
 public:
  Uncancelled() noexcept { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~Uncancelled() { pthread_setcancelstate(before_, nullptr); }
  Uncancelled(const Uncancelled&) = delete;
  Uncancelled& operator=(const Uncancelled&) = delete;

 private:
  int before_ = PTHREAD_CANCEL_ENABLE;
};

}  // namespace penstock::actors
