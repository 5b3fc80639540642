// A ProcessMonitor shows the plans of one process that are on IPUs to programs of the same user,
// which ask on its socket. The socket and its thread exist while a plan is on IPUs. Any thread may
// use a ProcessMonitor.
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

  /// Shows `pipeline`, which must stay in its place until it is hidden. Opens the socket first if
  /// there is none. @throws Error io_error or out_of_memory; std::bad_alloc. The pipeline is not
  /// shown then.
  void show(const ShownPipeline& pipeline);
  /// Shows `pipeline` no longer. Waits only for a request that is using the list of pipelines and,
  /// if `pipeline` was the last one, for the end of the monitor's thread.
  void hide(const ShownPipeline& pipeline) noexcept;

  bool is_of_this_process() const noexcept { return process_.is_current(); }
  /// Returns whether the monitor has a socket, which it has while it shows a pipeline.
  bool is_open();

 private:
  /// A Service is the socket, and the thread that serves it. It exists while there is a pipeline to
  /// show.
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
  std::mutex service_mutex_;  // `service_mutex_` is never locked by the service's thread.
  std::unique_ptr<Service> service_;
  std::mutex list_mutex_;
  std::vector<const ShownPipeline*> pipelines_;
  // The service's thread alone uses the last answer to "why" and the time of that answer.
  std::string last_waits_;
  std::int64_t last_asked_ns_ = 0;
};

/// A MonitorStay shows a plan for as long as it lives.
class MonitorStay {
 public:
  /// Shows `pipeline`. @throws as ProcessMonitor::show()
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
