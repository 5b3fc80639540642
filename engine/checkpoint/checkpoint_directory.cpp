#include <algorithm>
#include <charconv>
#include <chrono>
#include <exception>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "actors/system/owning_process.hpp"
#include "actors/threads/engine_thread.hpp"
#include "actors/threads/uncancelled.hpp"
#include "engine/checkpoint/directory_lock.hpp"
#include "engine/files/names_in.hpp"
#include "engine/files/temporary_file.hpp"
#include "graph/values/hosts_thread.hpp"
#include "graph/values/text.hpp"
#include "penstock/checkpoint.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

namespace fs = std::filesystem;

constexpr const char* directory_subject = "checkpoint directory";
constexpr std::string_view name_prefix = "checkpoint-";
constexpr std::string_view name_suffix = ".safetensors";
constexpr std::size_t name_digits = 12;
constexpr std::chrono::hours abandoned_after{1};

std::string file_name(std::uint64_t number) {
  const std::string digits = std::to_string(number);
  const std::size_t zeros = name_digits - std::min(name_digits, digits.size());
  return std::string(name_prefix) + std::string(zeros, '0') + digits + std::string(name_suffix);
}

/// Returns the number of the checkpoint whose file has the name `name`, or nothing if no checkpoint
/// has that name.
std::optional<std::uint64_t> number_of(const std::string& name) {
  std::uint64_t number = 0;
  if (!name.starts_with(name_prefix)) return std::nullopt;
  std::from_chars(name.data() + name_prefix.size(), name.data() + name.size(), number);
  return name == file_name(number) ? std::optional(number) : std::nullopt;
}

/// Returns `path` if it is a directory, after making it unless it exists.
fs::path made_directory(const std::string& path) {
  std::error_code error, unknown;
  fs::create_directories(path, error);
  if (!fs::is_directory(path, unknown))
    throw Error(Errc::io_error, std::string(directory_subject) + " \"" + printable(path) +
                                    "\": expected a directory" +
                                    (error ? ": " + error.message() : ""));
  return fs::absolute(path);
}

int checked_keep(int keep) {
  if (keep >= 1) return keep;
  throw Error(
      Errc::invalid_argument,
      std::string(directory_subject) + ": keep: expected 1 or more, got " + std::to_string(keep));
}

/// Returns the numbers of updates of those of `names` that checkpoints have, in ascending order.
std::vector<std::uint64_t> numbers_of(const std::vector<std::string>& names) {
  std::vector<std::uint64_t> numbers;
  for (const std::string& name : names)
    if (const auto number = number_of(name)) numbers.push_back(*number);
  std::ranges::sort(numbers);
  return numbers;
}

}  // namespace

class CheckpointDirectory::Impl {
 public:
  Impl(const std::string& path, int keep)
      : keep_(checked_keep(keep)), directory_(made_directory(path)), lock_(directory_) {}
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  bool in_own_process() const noexcept { return process_.is_current(); }

  std::vector<std::uint64_t> numbers() const {
    expect_own_process();
    return numbers_of(expect_names_in(directory_));
  }

  FoundCheckpoint newest() {
    expect_own_process();
    writer_.reset();  // The destructor of the thread waits for its end.
    std::vector<std::uint64_t> left = numbers();
    FoundCheckpoint found;
    for (; !left.empty() && !found.checkpoint; left.pop_back()) read(left.back(), found);
    if (!found.checkpoint) found.path.clear();
    return found;
  }

  void save(Checkpoint checkpoint) {
    wait();
    const auto shared = std::make_shared<const Checkpoint>(std::move(checkpoint));
    writer_.emplace("checkpoint", [this, shared] { write(*shared); });
  }

  void wait() {
    expect_own_process();
    writer_.reset();  // The destructor of the thread waits for its end.
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  }

 private:
  void expect_own_process() const { process_.expect_current(directory_subject); }

  /// Reads the checkpoint `number` into `found`, or writes down there that it is damaged.
  void read(std::uint64_t number, FoundCheckpoint& found) try {
    found.path = (directory_ / file_name(number)).native();
    found.checkpoint = load_checkpoint(found.path);
    newest_whole_ = number;
  } catch (const Error& error) {
    if (error.code() != Errc::corrupt_file) throw;
    found.skipped.emplace_back(error.what());
    damaged_.insert(number);
  }

  /// Writes `checkpoint` and removes those that are too many. Those that a killed process did not
  /// come to remove go first, so that there is never more than one too many, however often a run is
  /// killed. Runs on the thread `writer_`.
  void write(const Checkpoint& checkpoint) noexcept try {
    lock_.expect_held();
    remove_others();
    save_checkpoint((directory_ / file_name(checkpoint.updates)).native(), checkpoint);
    newest_whole_ = checkpoint.updates;
    damaged_.erase(checkpoint.updates);
    remove_others();
    TemporaryFile::remove_abandoned(directory_, abandoned_after);
  } catch (...) {
    failure_ = std::current_exception();
  }

  /// Removes all files that are older than the oldest checkpoint that is kept. Damaged ones are not
  /// counted, and files with higher numbers than the newest whole one stay, because the run will
  /// replace them. A file that cannot be removed stays.
  void remove_others() const {
    std::vector<std::uint64_t> files = numbers_of(names_in(directory_));
    std::erase_if(files, [&](std::uint64_t number) { return number > newest_whole_; });
    std::vector<std::uint64_t> kept = files;
    std::erase_if(kept, [&](std::uint64_t number) { return damaged_.contains(number); });
    const auto keep = static_cast<std::size_t>(keep_);
    if (kept.size() < keep) return;
    const std::uint64_t oldest = kept[kept.size() - keep];
    std::error_code stays;
    for (const std::uint64_t number : files)
      if (number < oldest) fs::remove(directory_ / file_name(number), stays);
  }

  const actors::OwningProcess process_;
  const int keep_;
  const fs::path directory_;
  const DirectoryLock lock_;
  // `newest_whole_` is the number of the newest checkpoint that was read or written, and `damaged_`
  // has those of the files that were found to be damaged. The thread `writer_` changes them while
  // it runs, and sets `failure_`, which is what kept the last checkpoint from being written.
  std::uint64_t newest_whole_ = 0;
  std::set<std::uint64_t> damaged_;
  std::exception_ptr failure_;
  // `writer_` writes the last checkpoint, or has written it. It ends before all else.
  std::optional<actors::EngineThread> writer_;
};

CheckpointDirectory::CheckpointDirectory(const std::string& path, int keep)
    : impl_(on_hosts_thread(directory_subject, [&] {
        const actors::Uncancelled uncancelled;
        return std::make_unique<Impl>(path, keep);
      })) {}

CheckpointDirectory::~CheckpointDirectory() {
  const actors::Uncancelled uncancelled;
  // In a forked process, the thread that writes does not exist, and nothing is freed.
  if (!impl_->in_own_process()) static_cast<void>(impl_.release());
  impl_.reset();
}

std::vector<std::uint64_t> CheckpointDirectory::numbers() const {
  return on_hosts_thread(directory_subject, [&] { return impl_->numbers(); });
}

FoundCheckpoint CheckpointDirectory::newest() const {
  return on_hosts_thread(directory_subject, [&] { return impl_->newest(); });
}

void CheckpointDirectory::save(Checkpoint checkpoint) {
  const actors::Uncancelled uncancelled;
  on_hosts_thread(directory_subject, [&] { impl_->save(std::move(checkpoint)); });
}

void CheckpointDirectory::wait() {
  const actors::Uncancelled uncancelled;
  on_hosts_thread(directory_subject, [&] { impl_->wait(); });
}

}  // namespace penstock
