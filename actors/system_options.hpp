// SystemOptions: how an actor system gets its work done. Plain data, for those who know no CAF too.
#pragma once

namespace penstock::actors {

struct SystemOptions {
  int threads = 0;             ///< worker threads for scheduled actors; 0: one per core
  bool deterministic = false;  ///< no threads: the caller runs every job, under a virtual clock
};

}  // namespace penstock::actors
