#include "apps/report/comparison.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "apps/report/comparison_page.hpp"
#include "penstock/profile.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/temporary_directory.hpp"

namespace report {
namespace {

using penstock::Errc;
using penstock::Profile;
using penstock::testing::refusal;
using penstock::testing::TemporaryDirectory;
using penstock::testing::write_file;

Profile profile() {
  Profile one{.model = "m", .training = true, .samples = 1000, .call_seconds = 2};
  one.stages.push_back({.forward = {.runs = 4, .seconds = 4e-3}, .backward = {4, 8e-3}});
  one.ipus.push_back({.ipu = 3});
  one.ipus[0].seconds.active[0] = 3;
  one.ipus[0].seconds.waiting[0] = 1;
  one.ipus[0].memory.peak_bytes = 2'000'000;
  one.ipus[0].memory.class_bytes[0] = 2'000'000;
  one.ops.push_back({.name = "fc", .op = "linear", .timed_runs = 2, .mean_seconds = 5e-6});
  one.bubble.measured = 0.25;
  return one;
}

std::vector<Figure> figures(const Profile& of) {
  return figures_of(penstock::parse_json(penstock::to_json(of)));
}

TEST(Comparison, H2_OfARunWithItselfFindsNothing) {
  const auto same = figures(profile());
  EXPECT_EQ(text_of(compare(same, same, 0.03)),
            std::to_string(same.size()) + " figures differ by at most 3 %.\n");
}

TEST(Comparison, H2_SaysWhatBecameFasterSlowerAndLarger) {
  Profile after = profile();
  after.call_seconds = 1;
  after.stages[0].backward.seconds = 16e-3;
  after.ipus[0].memory.peak_bytes = 3'000'000;
  after.ops[0].mean_seconds = 4e-6;
  after.bubble.measured = 0.1;
  const std::string text = text_of(compare(figures(profile()), figures(after), 0.03));
  EXPECT_EQ(text,
            "Faster\n"
            "  the whole run: 500 samples/s -> 1000 samples/s (2.00 times)\n"
            "  stage 0 forward, linear \"fc\": 5.00 us -> 4.00 us (0.80 times)\n"
            "Slower\n"
            "  stage 0, backward: 2.000 ms -> 4.000 ms (2.00 times)\n"
            "Larger\n"
            "  IPU 3, peak of memory: 2.00 MB -> 3.00 MB (1.50 times)\n"
            "Less idle\n"
            "  the bubble: 25.0 % -> 10.0 % (0.40 times)\n"
            "8 figures differ by at most 3 %.\n");
}

TEST(Comparison, H2_TellsInstructionsOfOneNameApart) {
  Profile twice = profile();
  twice.ops.push_back(twice.ops[0]);
  twice.ops[1].mean_seconds = 9e-6;
  const auto same = figures(twice);
  EXPECT_EQ(same.size(), figures(profile()).size() + 1);
  EXPECT_EQ(text_of(compare(same, same, 0.03)),
            std::to_string(same.size()) + " figures differ by at most 3 %.\n");
}

TEST(Comparison, H2_ListsWhatOnlyOneProfileHas) {
  Profile after = profile();
  after.ops[0].name = "head";
  const std::string text = text_of(compare(figures(profile()), figures(after), 0.03));
  EXPECT_NE(text.find("Only in the first\n  stage 0 forward, linear \"fc\": 5.00 us\n"), text.npos)
      << text;
  EXPECT_NE(text.find("Only in the second\n  stage 0 forward, linear \"head\": 5.00 us\n"),
            text.npos)
      << text;
}

TEST(Comparison, CannotSteerATerminal) {
  Profile after = profile();
  after.ops[0].name = "\x1b[2J";
  const std::string text = text_of(compare(figures(profile()), figures(after), 0.03));
  EXPECT_NE(text.find("linear \"?[2J\""), text.npos) << text;
  std::string json = penstock::to_json(after);
  json.replace(json.find("\"accumulators\""), 14, R"("\u001b[2J")");
  const auto hostile = figures_of(penstock::parse_json(json));
  EXPECT_EQ(std::ranges::count(hostile, "IPU 3, ?[2J", &Figure::name), 1);
}

TEST(ComparisonPage, ShowsBothValuesOfEachFigureAndNeedsNothingElse) {
  Profile before = profile(), after = profile();
  after.call_seconds = 1;
  after.ipus[0].memory.peak_bytes = 3'000'000;
  before.ops.push_back(
      {.name = "<b>", .op = "\"&\"", .timed_runs = 2, .mean_seconds = 2e-6, .seconds = 4e-6});
  const std::string page =
      comparison_page(compare(figures(before), figures(after), 0.03), "<one>", "two");
  const auto has = [&](const std::string& part) { return page.find(part) != page.npos; };
  EXPECT_TRUE(has("<h1>&lt;one&gt; → two</h1>"));
  EXPECT_TRUE(has("<h2>Faster</h2>"));
  EXPECT_TRUE(
      has("<tr><td>the whole run</td><td class=\"number\">500 samples/s</td>"
          "<td class=\"number\">1000 samples/s</td><td class=\"number\">2.00 times</td>"
          "<td class=\"bars\"><div class=\"bar first\" style=\"width:50%\"></div>"
          "<div class=\"bar better\" style=\"width:100%\"></div></td></tr>"));
  EXPECT_TRUE(has("<h2>Larger</h2>"));
  EXPECT_TRUE(has("<div class=\"bar worse\" style=\"width:100%\"></div>"));
  EXPECT_TRUE(
      has("<h2>Only before</h2>\n<ul>\n<li>stage 0 forward, &quot;&amp;&quot; "
          "&quot;&lt;b&gt;&quot;: 2.00 us</li>"))
      << page;
  EXPECT_TRUE(has("<tr><td>stage 0, forward</td>")) << "what is the same is there, too";
  for (const char* loaded : {"http", "src=", "<script", "<link", "<img"}) EXPECT_FALSE(has(loaded));
}

TEST(Figures, H2_AreReadFromAProfilesDirectory) {
  const TemporaryDirectory directory;
  penstock::write_profile((directory / "p").string(), profile());
  EXPECT_EQ(read_figures(directory / "p").size(), figures(profile()).size());
  EXPECT_EQ(read_figures(directory / "p" / "profile.json").front().value, 500);
}

TEST(Figures, H2_OfWhatIsNoProfileAreRefusedByName) {
  const TemporaryDirectory directory;
  const std::string file = (directory / "file").string();
  EXPECT_EQ(refusal(Errc::io_error, [&] { read_figures(file); }),
            "cannot read \"" + file +
                "\": No such file or directory; expected a directory that --profile has written, "
                "such as profile/training, or its profile.json");
  write_file(file, "{\n  \"calls\": 3\n}");
  EXPECT_EQ(
      refusal(Errc::invalid_data, [&] { read_figures(file); }),
      '"' + file + "\": line 1: expected the field \"call_seconds\" of a profile, got an object");
  write_file(file, "no JSON");
  EXPECT_TRUE(refusal(Errc::invalid_data, [&] { read_figures(file); }).starts_with('"' + file));
}

}  // namespace
}  // namespace report
