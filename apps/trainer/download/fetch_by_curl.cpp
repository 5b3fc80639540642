#include <curl/curl.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <span>

#include "apps/trainer/download/fetch.hpp"
#include "penstock/error.hpp"

namespace trainer {
namespace {

using penstock::Errc;
using penstock::Error;

constexpr long most_redirections = 5, connect_seconds = 30;
// A transfer that brings nothing for so long is broken.
constexpr long stall_seconds = 60;
constexpr int most_broken_connections = 20;

/// A Transfer is one request to the server.
class Transfer {
 public:
  Transfer(const FetchRequest& request, PartialFile& file)
      : request_(request), file_(file), begin_(file.bytes()), curl_(curl_easy_init()) {
    if (!curl_) throw Error(Errc::out_of_memory, request.url + ": no memory for a connection");
    ask();
    limit();
  }
  ~Transfer() { curl_easy_cleanup(curl_); }
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  CURLcode perform() {
    const CURLcode code = curl_easy_perform(curl_);
    if (failure_) std::rethrow_exception(failure_);
    return code;
  }
  /// Returns whether the transfer, which ended by `code`, brought nothing because it was to begin
  /// in the middle. libcurl takes a file that is no longer than what has come for complete.
  bool cannot_resume(CURLcode code) const {
    return begin_ > 0 &&
           (code == CURLE_RANGE_ERROR || (code == CURLE_OK && file_.bytes() == begin_));
  }
  std::string text_of(CURLcode code) const {
    return text_[0] != '\0' ? text_ : curl_easy_strerror(code);
  }

 private:
  template <class Value>
  void set(CURLoption option, Value value) {
    if (curl_easy_setopt(curl_, option, value) != CURLE_OK)
      throw Error(Errc::unsupported, request_.url + ": libcurl lacks an option that is needed");
  }

  void ask() {
    set(CURLOPT_URL, request_.url.c_str());
    set(CURLOPT_RESUME_FROM_LARGE, static_cast<curl_off_t>(begin_));
    set(CURLOPT_ERRORBUFFER, text_);
    set(CURLOPT_WRITEFUNCTION, on_bytes);
    set(CURLOPT_WRITEDATA, this);
    set(CURLOPT_XFERINFOFUNCTION, on_progress);
    set(CURLOPT_XFERINFODATA, this);
    set(CURLOPT_NOPROGRESS, 0L);
    set(CURLOPT_FAILONERROR, 1L);
    if (request_.authorities) trust_only(*request_.authorities);
  }

  /// Trusts the authorities in `file` alone. libcurl would also trust those in the directory that
  /// it was built with. Where its TLS library knows no such directories, the option has no effect.
  void trust_only(const std::string& file) {
    set(CURLOPT_CAINFO, file.c_str());
    curl_easy_setopt(curl_, CURLOPT_CAPATH, static_cast<const char*>(nullptr));
  }

  void limit() {
    const bool is_plain = request_.url.starts_with("http://");
    set(CURLOPT_FOLLOWLOCATION, 1L);
    set(CURLOPT_MAXREDIRS, most_redirections);
#if LIBCURL_VERSION_NUM >= 0x075500
    set(CURLOPT_PROTOCOLS_STR, is_plain ? "http" : "https");
    set(CURLOPT_REDIR_PROTOCOLS_STR, is_plain ? "http,https" : "https");
#else
    set(CURLOPT_PROTOCOLS, static_cast<long>(is_plain ? CURLPROTO_HTTP : CURLPROTO_HTTPS));
    set(CURLOPT_REDIR_PROTOCOLS,
        static_cast<long>(is_plain ? CURLPROTO_HTTP | CURLPROTO_HTTPS : CURLPROTO_HTTPS));
#endif
    set(CURLOPT_CONNECTTIMEOUT, connect_seconds);
    set(CURLOPT_LOW_SPEED_LIMIT, 1L);
    set(CURLOPT_LOW_SPEED_TIME, stall_seconds);
    set(CURLOPT_NOSIGNAL, 1L);
  }

  /// Calls `action`, whose exception may not pass through libcurl. Returns whether it threw none.
  template <class Action>
  bool kept_from_curl(const Action& action) noexcept {
    try {
      action();
      return true;
    } catch (...) {
      failure_ = std::current_exception();
      return false;
    }
  }

  static std::size_t on_bytes(char* bytes, std::size_t size, std::size_t count, void* data) {
    auto& transfer = *static_cast<Transfer*>(data);
    const auto part = std::as_bytes(std::span(bytes, size * count));
    return transfer.kept_from_curl([&] { transfer.take(part); }) ? part.size() : 0;
  }

  static int on_progress(void* data, curl_off_t total, curl_off_t done, curl_off_t, curl_off_t) {
    auto& transfer = *static_cast<Transfer*>(data);
    if (!transfer.request_.on_progress || total <= 0) return 0;
    const auto tell = [&] {
      transfer.request_.on_progress(transfer.begin_ + static_cast<std::uint64_t>(done),
                                    transfer.begin_ + static_cast<std::uint64_t>(total));
    };
    return transfer.kept_from_curl(tell) ? 0 : 1;
  }

  void take(std::span<const std::byte> bytes) {
    if (bytes.size() > request_.most_bytes - std::min(file_.bytes(), request_.most_bytes))
      throw Error(Errc::invalid_data, request_.url + ": expected a file of at most " +
                                          std::to_string(request_.most_bytes) + " bytes, got more");
    file_.append(bytes);
  }

  const FetchRequest& request_;
  PartialFile& file_;
  std::uint64_t begin_;
  CURL* curl_;
  char text_[CURL_ERROR_SIZE] = {};
  std::exception_ptr failure_;
};

/// Returns whether a transfer that ended by `code` may go on if it is asked for again.
bool is_broken_connection(CURLcode code) {
  return code == CURLE_PARTIAL_FILE || code == CURLE_RECV_ERROR || code == CURLE_GOT_NOTHING ||
         code == CURLE_OPERATION_TIMEDOUT || code == CURLE_HTTP2_STREAM;
}

}  // namespace

void fetch(const FetchRequest& request, PartialFile& file) {
  static const CURLcode is_ready = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (is_ready != CURLE_OK) throw Error(Errc::unsupported, "libcurl cannot be used");
  for (int broken = 0;;) {
    const std::uint64_t before = file.bytes();
    Transfer transfer(request, file);
    const CURLcode code = transfer.perform();
    if (transfer.cannot_resume(code)) {
      file.clear();
      continue;
    }
    if (code == CURLE_OK) return;
    const bool goes_on = is_broken_connection(code) && file.bytes() > before;
    if (!goes_on || ++broken > most_broken_connections)
      throw Error(Errc::io_error, request.url + ": " + transfer.text_of(code));
  }
}

}  // namespace trainer
