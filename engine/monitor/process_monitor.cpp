#include "engine/monitor/process_monitor.hpp"

#include <atomic>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "engine/monitor/directory.hpp"
#include "graph/values/stopwatch.hpp"

namespace penstock {
namespace {

constexpr double most_seconds_of_waits = 1;
/// `fresh_ns` is the time within which a further request for the waits gets the last answer again,
/// so that frequent requests do not keep the actors busy.
constexpr std::int64_t fresh_ns = 200'000'000;

/// `newest` points to the monitor that was made last, which after a fork is that of the parent
/// process. A forked process leaves its copy of that monitor alone, because the copied locks may be
/// held for ever.
constinit std::atomic<ProcessMonitor*> newest{nullptr};

/// An AtTheEnd frees the monitor when the library is unloaded, unless a model of the host's lives
/// longer.
struct AtTheEnd {
  ~AtTheEnd() {
    ProcessMonitor* last = newest.load();
    if (last && last->is_of_this_process() && !last->is_open() &&
        newest.compare_exchange_strong(last, nullptr))
      delete last;
  }
};
const AtTheEnd at_the_end;

}  // namespace

bool environment_allows_monitor() noexcept {
  const char* const value = std::getenv("PENSTOCK_MONITOR");
  return !value || std::string_view(value) != "0";
}

// No lock guards `newest`, because a fork may come while another thread holds the lock.
ProcessMonitor& ProcessMonitor::of_this_process() {
  for (;;) {
    ProcessMonitor* there = newest.load();
    if (there && there->is_of_this_process()) return *there;
    auto made = std::make_unique<ProcessMonitor>();
    if (newest.compare_exchange_strong(there, made.get())) return *made.release();
  }
}

ProcessMonitor::Service::Service(ProcessMonitor& monitor, const std::string& directory)
    : socket(directory),
      server(socket.descriptor(),
             [&monitor, this](std::string_view request) { return monitor.answer(*this, request); }),
      thread(std::in_place, "monitor", [this] { server.run(); }) {
  remove_abandoned_sockets(directory);
}

ProcessMonitor::Service::~Service() {
  ended = true;
  bell->ring();
  server.stop();
  thread.reset();
}

void ProcessMonitor::show(const ShownPipeline& pipeline) {
  const std::lock_guard lock(service_mutex_);
  {
    const std::lock_guard list_lock(list_mutex_);
    pipelines_.push_back(&pipeline);
  }
  try {
    if (!service_) service_ = std::make_unique<Service>(*this, made_monitor_directory());
  } catch (...) {
    const std::lock_guard list_lock(list_mutex_);
    std::erase(pipelines_, &pipeline);
    throw;
  }
}

void ProcessMonitor::hide(const ShownPipeline& pipeline) noexcept {
  const std::lock_guard lock(service_mutex_);
  bool is_last = false;
  {
    const std::lock_guard list_lock(list_mutex_);
    std::erase(pipelines_, &pipeline);
    is_last = pipelines_.empty();
    try {
      for (const ShownIpu& ipu : pipeline.ipus)
        pipeline.model->past_work_ns[ipu.ipu] += work_of(pipeline, ipu.ipu);
    } catch (const std::bad_alloc&) {
      // If there is no memory for the sum, the monitor shows less work than was done.
    }
  }
  if (is_last) service_.reset();
}

bool ProcessMonitor::is_open() {
  const std::lock_guard lock(service_mutex_);
  return service_ != nullptr;
}

std::string ProcessMonitor::answer(const Service& service, std::string_view request) {
  if (request == "why") return ask_for_waits(service);
  if (request != "status") return "";
  const std::lock_guard lock(list_mutex_);
  return status_answer(pipelines_);
}

std::string ProcessMonitor::ask_for_waits(const Service& service) {
  if (!last_waits_.empty() && steady_ns() - last_asked_ns_ < fresh_ns) return last_waits_;
  std::vector<ShownWaits> pipelines;
  std::vector<std::shared_ptr<actors::WaitPicture>> pictures;
  {
    const std::lock_guard lock(list_mutex_);
    for (const ShownPipeline* pipeline : pipelines_) {
      const ModelGauge& model = *pipeline->model;
      pipelines.push_back(
          {model.number, model.name, model.training, model.read().in_call_since_ns > 0});
      pictures.push_back(std::make_shared<actors::WaitPicture>(service.bell));
      pipeline->runtime->show_waits(pictures.back());
    }
  }
  service.bell->wait(most_seconds_of_waits, [&] {
    if (service.ended) return true;
    for (const auto& picture : pictures)
      if (!picture->complete()) return false;
    return true;
  });
  for (std::size_t i = 0; i < pictures.size(); ++i) pipelines[i].content = pictures[i]->take();
  last_waits_ = waits_answer(pipelines);
  last_asked_ns_ = steady_ns();
  return last_waits_;
}

MonitorStay::MonitorStay(ShownPipeline pipeline)
    : pipeline_(std::move(pipeline)), monitor_(ProcessMonitor::of_this_process()) {
  monitor_.show(pipeline_);
}

MonitorStay::~MonitorStay() {
  if (monitor_.is_of_this_process()) monitor_.hide(pipeline_);
}

}  // namespace penstock
