// A ProcessMonitor shows the plans of one process that are on their IPUs to whoever of the same
// user asks on its socket. The socket and its thread are there while there is such a plan. Any
// thread may use it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "actors/host/bell.hpp"
#include "actors/system/owning_process.hpp"
#include "actors/threads/engine_thread.hpp"
#include "engine/monitor/answers.hpp"
#include "engine/monitor/server.hpp"
#include "engine/monitor/shown_pipeline.hpp"
#include "engine/monitor/socket.hpp"

namespace penstock {

class ProcessMonitor {
 public:
  ProcessMonitor() = default;
  ~ProcessMonitor() = default;
  ProcessMonitor(const ProcessMonitor&) = delete;
  ProcessMonitor& operator=(const ProcessMonitor&) = delete;

  /// Returns the monitor of the calling process. A forked process gets one of its own, and leaves
  /// that of its parent alone. @throws std::bad_alloc
  static ProcessMonitor& of_this_process();

  /// Shows `pipeline`, which stays where it is until it is hidden. Opens the socket first if there
  /// is none. @throws Error io_error or out_of_memory; std::bad_alloc. Then it is not shown.
  void show(const ShownPipeline& pipeline);
  /// Waits for nothing but for a question that is being asked of the pipeline, and for the end of
  /// the thread if it was the last one.
  void hide(const ShownPipeline& pipeline) noexcept;

  bool is_of_this_process() const noexcept { return process_.is_current(); }
  /// Returns whether it shows something.
  bool is_open();

 private:
  /// Is what serves while there is something to show.
  struct Service {
    Service(ProcessMonitor& monitor, const std::string& directory);
    ~Service();
    MonitorSocket socket;
    MonitorServer server;
    std::atomic<bool> ended{false};
    std::shared_ptr<actors::Bell> bell = std::make_shared<actors::Bell>();
    std::optional<actors::EngineThread> thread = {};
  };

  std::string answer(const Service& service, std::string_view request);
  std::string ask_for_waits(const Service& service);

  const actors::OwningProcess process_;
  std::mutex service_mutex_;  // Is never held by the service's thread.
  std::unique_ptr<Service> service_;
  std::mutex list_mutex_;
  std::vector<const ShownPipeline*> pipelines_;
  // The service's thread alone uses these.
  std::string last_waits_;
  std::int64_t last_asked_ns_ = 0;
};

/// A plan is shown for as long as its stay lives.
class MonitorStay {
 public:
  /// @throws as ProcessMonitor::show()
  explicit MonitorStay(ShownPipeline pipeline);
  ~MonitorStay();
  MonitorStay(const MonitorStay&) = delete;
  MonitorStay& operator=(const MonitorStay&) = delete;

 private:
  const ShownPipeline pipeline_;
  ProcessMonitor& monitor_;
};

/// Returns whether the environment allows a monitor, which it does unless PENSTOCK_MONITOR is 0.
bool environment_allows_monitor() noexcept;

}  // namespace penstock
