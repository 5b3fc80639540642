#include "apps/trainer/output/console.hpp"

#include <algorithm>
#include <cstdio>
#include <string>

#include "penstock/error.hpp"

namespace trainer {
namespace {

void write_line(std::string line) {
  std::replace_if(
      line.begin(), line.end(), [](unsigned char c) { return c < ' '; }, ' ');
  line += '\n';
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace

void print(std::string_view text) {
  const std::size_t written = std::fwrite(text.data(), 1, text.size(), stdout);
  if (written != text.size() || std::fflush(stdout) != 0)
    throw penstock::Error(penstock::Errc::io_error, "cannot write to the standard output");
}

void print_note(std::string_view note) {
  write_line("penstock-train: note: " + std::string(note));
}

void print_failure(std::string_view what) {
  write_line("penstock-train: " + std::string(what));
}

}  // namespace trainer
