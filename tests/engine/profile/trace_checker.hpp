// A TraceChecker checks a file of Chrome's trace events against the rules that viewers rely on.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace penstock::testing {

/// A TraceChecker expects that the slices of each row are strictly nested, that each arrow begins
/// once, ends once and touches a slice at each of its points, and that counters have numbers.
/// check() returns the number of slices.
class TraceChecker {
 public:
  explicit TraceChecker(const nlohmann::json& trace) {
    for (const auto& event : trace.at("traceEvents")) sort_in(event);
  }

  std::size_t check() {
    for (auto& [row, slices] : rows_) expect_nested(row, slices);
    for (const auto& [id, points] : flows_) expect_matched(id, points);
    return count_;
  }

  /// Returns the number of arrows. There is one for each micro-batch.
  std::size_t flows() const { return flows_.size(); }
  /// Returns the values that a counter has had, one after the other.
  const std::vector<nlohmann::json>& counted(const std::string& name) { return counters_[name]; }

 private:
  using Row = std::pair<int, int>;
  struct Slice {
    double begin = 0, end = 0;
    std::string name;
  };
  struct Point {
    std::string kind;
    Row row;
    double time = 0;
  };

  void sort_in(const nlohmann::json& event) {
    const std::string kind = event.at("ph");
    if (kind == "M") return;
    if (kind == "C") {
      for (const auto& value : event.at("args")) EXPECT_TRUE(value.is_number()) << event;
      counters_[event.at("name").get<std::string>()].push_back(event.at("args"));
      return;
    }
    const Row row{event.at("pid"), event.at("tid")};
    const double time = event.at("ts");
    EXPECT_GE(time, 0) << event;
    if (kind == "X") {
      EXPECT_GE(event.at("dur"), 0) << event;
      rows_[row].push_back({time, time + event.at("dur").get<double>(), event.at("name")});
      ++count_;
    } else {
      flows_[event.at("id").get<std::string>()].push_back({kind, row, time});
    }
  }

  static void expect_nested(const Row& row, std::vector<Slice>& slices) {
    std::ranges::sort(slices, {},
                      [](const Slice& slice) { return std::pair(slice.begin, -slice.end); });
    std::vector<Slice> open;
    for (const Slice& slice : slices) {
      while (!open.empty() && open.back().end <= slice.begin + tolerance) open.pop_back();
      // What an IPU does, and what it waits for, comes one after the other.
      if (row.first == 0) {
        EXPECT_TRUE(open.empty()) << slice.name << " in " << open.back().name;
      }
      if (!open.empty()) {
        EXPECT_LE(slice.end, open.back().end + tolerance)
            << slice.name << " overlaps " << open.back().name << " in row " << row.first << '/'
            << row.second;
      }
      open.push_back(slice);
    }
  }

  void expect_matched(const std::string& id, const std::vector<Point>& points) const {
    EXPECT_GE(points.size(), 2U) << id;
    for (std::size_t i = 0; i < points.size(); ++i) {
      EXPECT_EQ(points[i].kind, i == 0 ? "s" : i + 1 < points.size() ? "t" : "f") << id;
      if (i > 0) {
        EXPECT_LE(points[i - 1].time, points[i].time) << id;
      }
      const auto row = rows_.find(points[i].row);
      ASSERT_NE(row, rows_.end()) << id;
      EXPECT_TRUE(std::ranges::any_of(row->second,
                                      [&](const Slice& slice) {
                                        return slice.begin <= points[i].time &&
                                               points[i].time <= slice.end;
                                      }))
          << id << " touches no slice at " << points[i].time;
    }
  }

  static constexpr double tolerance = 1e-3;  // This is a nanosecond, in microseconds.
  std::map<Row, std::vector<Slice>> rows_;
  std::map<std::string, std::vector<Point>> flows_;
  std::map<std::string, std::vector<nlohmann::json>> counters_;
  std::size_t count_ = 0;
};

}  // namespace penstock::testing
