#include "apps/monitor/engines.hpp"

#include <fcntl.h>
#include <sys/poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <thread>
#include <utility>

#include "apps/monitor/process_facts.hpp"

namespace monitor {
namespace {

using Clock = std::chrono::steady_clock;
namespace fs = std::filesystem;

constexpr std::size_t most_answer_bytes = std::size_t{16} << 20;
const std::string suffix = ".sock";

std::string socket_of(const std::string& directory, std::int64_t pid) {
  return directory + "/" + std::to_string(pid) + suffix;
}

/// A Question is a question to one process, with the part of the answer that has arrived so far.
class Question {
 public:
  Question(const std::string& directory, std::int64_t pid)
      : pid_(pid),
        path_(socket_of(directory, pid)),
        socket_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {}
  Question(Question&& other) noexcept
      : pid_(other.pid_),
        path_(std::move(other.path_)),
        socket_(std::exchange(other.socket_, -1)),
        state_(other.state_),
        refused_(other.refused_),
        peer_(other.peer_),
        answer_(std::move(other.answer_)) {}
  Question& operator=(Question&&) = delete;
  ~Question() { hang_up(); }

  std::int64_t pid() const { return pid_; }
  const std::string& path() const { return path_; }
  int descriptor() const { return state_ == State::reading ? socket_ : -1; }
  bool is_calling() const { return state_ == State::calling; }
  bool is_done() const { return state_ == State::done; }
  const std::string& answer() const { return answer_; }
  /// Returns whether process `pid()` of this system is the process that answers. The answer may
  /// also come from another container, where another process may have the same number.
  bool is_of_this_system() const { return peer_ == pid_; }
  /// Returns whether process `pid()` has ended and has left its socket behind.
  bool is_abandoned() const {
    return answer_.empty() && (refused_ || is_of_this_system()) && has_ended(pid_);
  }

  /// Tries to connect and sends the request. If the process's queue of connections is full, the
  /// next call of this function tries again.
  void call(const std::string& request) {
    if (state_ != State::calling) return;
    if (!connected()) {
      refused_ = errno == ECONNREFUSED;
      if (errno != EAGAIN && errno != EINTR) hang_up();
      return;
    }
    const std::string line = request + '\n';
    const auto sent = send(socket_, line.data(), line.size(), MSG_NOSIGNAL);
    state_ = State::reading;
    if (!is_of_this_user() || sent != static_cast<ssize_t>(line.size())) hang_up();
  }
  /// Reads the bytes of the answer that have arrived since the last call.
  void read() {
    char bytes[1 << 14];
    const auto received = recv(socket_, bytes, sizeof(bytes), 0);
    if (received < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (received > 0) answer_.append(bytes, static_cast<std::size_t>(received));
    if (received <= 0 || answer_.size() > most_answer_bytes) hang_up();
  }

 private:
  enum class State : std::uint8_t { calling, reading, done };

  bool connected() {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    errno = ENAMETOOLONG;
    if (path_.size() >= sizeof(address.sun_path)) return false;
    path_.copy(address.sun_path, path_.size());
    return connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  }
  bool is_of_this_user() {
    ucred peer{};
    socklen_t size = sizeof(peer);
    if (getsockopt(socket_, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return false;
    peer_ = peer.pid;
    return peer.uid == geteuid();
  }
  void hang_up() {
    if (socket_ >= 0) close(socket_);
    socket_ = -1;
    state_ = State::done;
  }

  std::int64_t pid_;
  std::string path_;
  int socket_;
  State state_ = State::calling;
  bool refused_ = false;  // `refused_` says whether no process listens at the socket.
  // `peer_` is the number of the process that listens, or 0 if it is not known.
  std::int64_t peer_ = 0;
  std::string answer_;
};

void wait_for_answers(std::vector<Question>& questions, const std::string& request,
                      Clock::time_point end) {
  constexpr auto again = std::chrono::milliseconds(10);
  while (Clock::now() < end && !std::ranges::all_of(questions, &Question::is_done)) {
    for (Question& question : questions) question.call(request);
    const bool calling = std::ranges::any_of(questions, &Question::is_calling);
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
    std::vector<pollfd> polled;
    for (const Question& question : questions) polled.push_back({question.descriptor(), POLLIN, 0});
    const auto patience = calling ? std::min<std::chrono::milliseconds>(again, left) : left;
    poll(polled.data(), polled.size(), static_cast<int>(std::max<long>(0, patience.count())));
    for (std::size_t i = 0; i < questions.size(); ++i)
      if (polled[i].revents != 0) questions[i].read();
  }
}

}  // namespace

std::vector<std::int64_t> engines_in(const std::string& directory) {
  std::vector<std::int64_t> pids;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, error)) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with(suffix)) continue;
    const char* const end = name.data() + name.size() - suffix.size();
    std::int64_t pid = 0;
    const auto [at, failed] = std::from_chars(name.data(), end, pid);
    if (failed == std::errc() && at == end && pid > 0) pids.push_back(pid);
  }
  std::ranges::sort(pids);
  return pids;
}

std::vector<EngineAnswer> ask_engines(const std::string& directory, const std::string& request,
                                      double seconds, std::optional<std::int64_t> only) {
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                      std::chrono::duration<double>(seconds));
  std::vector<Question> questions;
  for (const std::int64_t pid : engines_in(directory))
    if (!only || pid == *only) questions.emplace_back(directory, pid);
  wait_for_answers(questions, request, end);
  std::vector<EngineAnswer> answers;
  for (const Question& question : questions) {
    if (question.is_abandoned()) {
      unlink(question.path().c_str());
      continue;
    }
    answers.push_back({question.pid(),
                       question.is_of_this_system() ? facts_of(question.pid()) : ProcessFacts(),
                       question.answer()});
  }
  return answers;
}

}  // namespace monitor
