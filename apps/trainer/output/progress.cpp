#include "apps/trainer/output/progress.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>
#include <utility>

#include "apps/trainer/output/decimal_text.hpp"

namespace trainer {
namespace {

constexpr int bar_cells = 10;
constexpr double bar_period_seconds = 0.1;
constexpr std::int64_t most_plain_lines = 20;

/// Returns `number` as a text, filled up with `fill` from the left to `width` characters.
std::string padded(std::int64_t number, std::size_t width, char fill) {
  const std::string digits = std::to_string(number);
  return std::string(width - std::min(width, digits.size()), fill) + digits;
}

/// Returns a text such as "01:05" or "1:01:05".
std::string clock_text(double seconds) {
  const auto whole = static_cast<std::int64_t>(seconds);
  const auto hours = whole / 3600, minutes = whole / 60 % 60;
  return (hours > 0 ? std::to_string(hours) + ':' : "") + padded(minutes, 2, '0') + ':' +
         padded(whole % 60, 2, '0');
}

/// Returns a text such as "14.89it/s" or, if the rate is below one per second, "6.49s/it".
std::string rate_text(std::int64_t done, double seconds) {
  const double rate = static_cast<double>(done) / seconds;
  return rate < 1 ? decimal_text(1 / rate, 2) + "s/it" : decimal_text(rate, 2) + "it/s";
}

/// Returns a text such as "[00:01<00:04, 14.89it/s]".
std::string timing_text(std::int64_t done, std::int64_t total, double seconds) {
  if (done == 0 || seconds <= 0) return '[' + clock_text(seconds) + "<?, ?it/s]";
  const double left = seconds / static_cast<double>(done) * static_cast<double>(total - done);
  return '[' + clock_text(seconds) + '<' + clock_text(left) + ", " + rate_text(done, seconds) + ']';
}

std::string count_text(std::int64_t done, std::int64_t total) {
  return std::to_string(done) + '/' + std::to_string(total);
}

/// Returns how many columns the terminal has, or 0 if the number is not known.
std::size_t terminal_columns() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

bool begins_a_character(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
}

/// Returns how many columns `text`, which is UTF-8, takes. Every character counts as one column
/// wide, as all characters of a bar are.
std::size_t columns_of(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, begins_a_character));
}

/// Returns the first `most` columns of `text`.
std::string cut(const std::string& text, std::size_t most) {
  std::size_t columns = 0, end = 0;
  while (end < text.size() && (columns += begins_a_character(text[end]) ? 1 : 0) <= most) ++end;
  return text.substr(0, end);
}

double clock_seconds() {
  using namespace std::chrono;
  return duration<double>(steady_clock::now().time_since_epoch()).count();
}

}  // namespace

std::string bar_line(const std::string& description, std::int64_t done, std::int64_t total,
                     double seconds) {
  const std::int64_t filled = done * bar_cells / total;
  std::string cells;
  for (std::int64_t i = 0; i < filled; ++i) cells += "█";
  cells.append(static_cast<std::size_t>(bar_cells - filled), ' ');
  return (description.empty() ? "" : description + ": ") + padded(done * 100 / total, 3, ' ') +
         "%|" + cells + "| " + count_text(done, total) + ' ' + timing_text(done, total, seconds);
}

std::string plain_line(const std::string& title, const std::string& description, std::int64_t done,
                       std::int64_t total, double seconds) {
  return title + ": " + count_text(done, total) + ' ' + timing_text(done, total, seconds) +
         (description.empty() ? "" : ' ' + description);
}

ProgressStream ProgressStream::standard_error(bool among_lines) {
  ProgressStream stream;
  stream.terminal = isatty(STDERR_FILENO) == 1 && !among_lines;
  stream.write = [](const std::string& text) { std::fwrite(text.data(), 1, text.size(), stderr); };
  stream.seconds = clock_seconds;
  stream.columns = terminal_columns;
  return stream;
}

ProgressStream ProgressStream::silent() {
  return {.terminal = false, .write = [](const std::string&) {}, .seconds = clock_seconds};
}

std::function<void(const penstock::CompileProgress&)> compile_bar(const ProgressStream& stream,
                                                                  const std::string& title) {
  if (!stream.terminal) return {};
  struct Bar {
    std::int64_t ticks = 0;
    std::optional<Progress> progress = {};
  };
  return
      [&stream, title, bar = std::make_shared<Bar>()](const penstock::CompileProgress& compiling) {
        constexpr std::int64_t all = 100;
        if (!bar->progress) bar->progress.emplace(stream, title, all);
        const std::int64_t due = std::llround(compiling.done * static_cast<double>(all));
        for (; bar->ticks < due; ++bar->ticks) bar->progress->advance(compiling.step);
        if (compiling.done == 1) bar->progress.reset();
      };
}

Progress::Progress(const ProgressStream& stream, std::string title, std::int64_t total,
                   std::int64_t done)
    : stream_(stream),
      title_(std::move(title)),
      total_(total),
      done_(done),
      shown_(done),
      begin_(stream.seconds()),
      shown_at_(begin_) {
  if (stream_.terminal) stream_.write(title_ + '\n');
}

Progress::~Progress() {
  make_room();
}

void Progress::advance(const std::string& description) {
  ++done_;
  const double now = stream_.seconds();
  if (stream_.terminal ? !bar_is_due(now) : !line_is_due()) return;
  if (stream_.terminal)
    draw_bar(description, now);
  else
    write_line(description, now);
  shown_ = done_;
  shown_at_ = now;
}

void Progress::make_room() {
  if (bar_columns_ > 0) stream_.write("\n");
  bar_columns_ = 0;
}

bool Progress::bar_is_due(double now) const {
  return bar_columns_ == 0 || done_ == total_ || now - shown_at_ >= bar_period_seconds;
}

bool Progress::line_is_due() const {
  const auto part = [&](std::int64_t done) { return done * most_plain_lines / total_; };
  return part(done_) > part(shown_);
}

void Progress::draw_bar(const std::string& description, double now) {
  // A line that reaches the terminal's last column would go on in the next line, and \r would no
  // longer go back to where the bar begins.
  const std::size_t width = stream_.columns ? stream_.columns() : 0;
  const std::size_t most = width > 1 ? width - 1 : std::string::npos;
  const std::string line = cut(bar_line(description, done_, total_, now - begin_), most);
  const std::size_t columns = columns_of(line), before = std::min(bar_columns_, most);
  stream_.write('\r' + line + std::string(before - std::min(before, columns), ' '));
  bar_columns_ = columns;
}

void Progress::write_line(const std::string& description, double now) {
  stream_.write(plain_line(title_, description, done_, total_, now - begin_) + '\n');
}

}  // namespace trainer
