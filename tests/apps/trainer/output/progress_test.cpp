#include "apps/trainer/output/progress.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace trainer {
namespace {

/// A Screen keeps what is written to a stream, and has a clock that the test sets.
struct Screen {
  std::string text;
  double now = 100;
  std::size_t columns = 0;

  ProgressStream stream(bool terminal) {
    return {.terminal = terminal,
            .write = [this](const std::string& written) { text += written; },
            .seconds = [this] { return now; },
            .columns = [this] { return columns; }};
  }

  /// Returns what the last line of the screen shows: after each "\r", the line is written over from
  /// its first column.
  std::string last_line() const {
    std::vector<std::string> cells;
    std::size_t column = 0;
    for (const char c : text.substr(text.rfind('\n') + 1)) {
      const bool continues = (static_cast<unsigned char>(c) & 0xC0) == 0x80;
      if (c == '\r') {
        column = 0;
      } else if (continues) {
        cells[column - 1] += c;
      } else {
        cells.resize(std::max(cells.size(), column + 1));
        cells[column++] = c;
      }
    }
    std::string line;
    for (const std::string& cell : cells) line += cell;
    return line;
  }
};

// H4 of docs/reference.md: the trainer shows a progress bar.
TEST(BarLine, LooksLikeTheTutorials) {
  EXPECT_EQ(bar_line("Loss:0.1422 | Accuracy:95.78%", 15, 15, 1.0),
            "Loss:0.1422 | Accuracy:95.78%: 100%|██████████| 15/15 [00:01<00:00, 15.00it/s]");
  EXPECT_EQ(bar_line("", 3, 12, 3.0), " 25%|██        | 3/12 [00:03<00:09, 1.00it/s]");
}

TEST(BarLine, SlowStepsAreTimedOneByOne) {
  EXPECT_EQ(bar_line("", 15, 15, 97.35), "100%|██████████| 15/15 [01:37<00:00, 6.49s/it]");
  EXPECT_EQ(bar_line("", 1, 2, 3661), " 50%|█████     | 1/2 [1:01:01<1:01:01, 3661.00s/it]");
}

TEST(BarLine, SaysNothingAboutARateItCannotKnow) {
  EXPECT_EQ(bar_line("", 1, 2, 0), " 50%|█████     | 1/2 [00:00<?, ?it/s]");
}

TEST(Progress, DrawsTheBarOverItselfAndEndsItsLine) {
  Screen screen;
  const ProgressStream stream = screen.stream(true);
  {
    Progress progress(stream, "Epoch 1/3", 2);
    screen.now += 1;
    progress.advance("Loss:10.5");
    screen.now += 1;
    progress.advance("Loss:9.5");
  }
  EXPECT_EQ(screen.text,
            "Epoch 1/3\n"
            "\rLoss:10.5:  50%|█████     | 1/2 [00:01<00:01, 1.00it/s]"
            "\rLoss:9.5: 100%|██████████| 2/2 [00:02<00:00, 1.00it/s] \n");
}

TEST(CompileBar, D16_IsDrawnStepByStepAndEndsItsLine) {
  Screen screen;
  const ProgressStream stream = screen.stream(true);
  const auto bar = compile_bar(stream, "Compiling");
  for (const penstock::CompileProgress& progress :
       {penstock::CompileProgress{"shapes", 0}, {"memory", 0.5}, {"", 1}}) {
    bar(progress);
    screen.now += 1;
  }
  EXPECT_TRUE(screen.text.starts_with("Compiling\n\rmemory:   1%|")) << screen.text;
  EXPECT_NE(screen.text.find("\rmemory:"), screen.text.npos);
  EXPECT_TRUE(screen.text.ends_with("| 100/100 [00:02<00:00, 50.00it/s]\n")) << screen.text;
}

TEST(CompileBar, D16_IsNotThereWithoutATerminal) {
  Screen screen;
  const ProgressStream stream = screen.stream(false);
  EXPECT_FALSE(compile_bar(stream, "Compiling"));
  EXPECT_EQ(screen.text, "");
}

TEST(Progress, MakesRoomForTheLinesOfOthers) {
  Screen screen;
  const ProgressStream stream = screen.stream(true);
  {
    Progress progress(stream, "Epoch 1/3", 2);
    screen.now += 1;
    progress.advance("");
    progress.make_room();
    progress.make_room();
    screen.text += "a note\n";
  }
  EXPECT_EQ(screen.text,
            "Epoch 1/3\n"
            "\r 50%|█████     | 1/2 [00:01<00:01, 1.00it/s]\n"
            "a note\n");
}

TEST(Progress, ErasesWhatAShorterBarWouldLeave) {
  Screen screen;
  const ProgressStream stream = screen.stream(true);
  Progress progress(stream, "", 2);
  screen.now += 1;
  progress.advance("a long description indeed, of 45 characters..");
  screen.now += 1;
  progress.advance("");
  EXPECT_EQ(screen.text.back(), ' ');
}

// The progress bar has to count columns of the screen, not bytes: a full cell of the bar takes
// three bytes, an empty cell takes one, and both are one column wide.
TEST(Progress, LeavesNothingOfALongerLineBehindAMoreFilledBar) {
  Screen screen;
  const ProgressStream stream = screen.stream(true);
  Progress progress(stream, "", 10);
  for (int i = 0; i < 10; ++i) {
    screen.now += 1;
    progress.advance(i % 2 == 0 ? "Loss:10.25" : "Loss:9.5");
    const std::string shown = screen.last_line();
    const std::string line =
        bar_line(i % 2 == 0 ? "Loss:10.25" : "Loss:9.5", i + 1, 10, screen.now - 100);
    EXPECT_EQ(shown.substr(0, line.size()), line);
    EXPECT_EQ(shown.find_first_not_of(' ', line.size()), shown.npos) << shown;
  }
}

TEST(Progress, KeepsToOneLineOfANarrowTerminal) {
  Screen screen;
  screen.columns = 24;
  const ProgressStream stream = screen.stream(true);
  Progress progress(stream, "", 2);
  screen.now += 1;
  progress.advance("Loss:0.5");
  EXPECT_EQ(screen.last_line(), "Loss:0.5:  50%|█████   ");  // The line has 23 columns.
  screen.columns = 12;
  screen.now += 1;
  progress.advance("Loss:0.5");
  EXPECT_TRUE(screen.text.ends_with("\rLoss:0.5: 1")) << screen.text;
}

TEST(Progress, DrawsNoOftenerThanEyesFollowButAlwaysTheEnd) {
  Screen screen;
  const ProgressStream stream = screen.stream(true);
  Progress progress(stream, "", 1000);
  for (int i = 0; i < 1000; ++i) progress.advance("");
  EXPECT_EQ(std::count(screen.text.begin(), screen.text.end(), '\r'), 2);
  EXPECT_NE(screen.text.find("1000/1000"), screen.text.npos);
}

TEST(Progress, WritesPlainLinesWhereThereIsNoTerminal) {
  Screen screen;
  const ProgressStream stream = screen.stream(false);
  Progress progress(stream, "Epoch 1/3", 2);
  screen.now += 1;
  progress.advance("Loss:0.5");
  screen.now += 1;
  progress.advance("Loss:0.25");
  EXPECT_EQ(screen.text,
            "Epoch 1/3: 1/2 [00:01<00:01, 1.00it/s] Loss:0.5\n"
            "Epoch 1/3: 2/2 [00:02<00:00, 1.00it/s] Loss:0.25\n");
}

TEST(Progress, WritesTwentyPlainLinesAtMost) {
  Screen screen;
  const ProgressStream stream = screen.stream(false);
  Progress progress(stream, "Epoch 1/1", 3750);
  for (int i = 0; i < 3750; ++i) progress.advance("");
  EXPECT_EQ(std::count(screen.text.begin(), screen.text.end(), '\n'), 20);
  EXPECT_NE(screen.text.find("3750/3750"), screen.text.npos);
}

}  // namespace
}  // namespace trainer
