// compare() says what became faster, slower, larger and smaller from one profile to another. It is
// pure.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "apps/report/figures.hpp"

namespace report {

/// A Change is a figure of both profiles.
struct Change {
  std::string name;
  Unit unit = Unit::seconds;
  double before = 0;
  double after = 0;

  /// Returns `after` divided by `before`. A tiny number is added to both, so that neither is zero.
  double factor() const;
};

/// A ChangeGroup has the changes of one kind, the largest first.
struct ChangeGroup {
  std::string title;    ///< `title` is the name of the kind, such as "Faster" or "Larger".
  bool better = false;  ///< `better` says whether such changes are welcome.
  std::vector<Change> changes;
};

struct Comparison {
  double least_change = 0;  ///< Figures that differ by at most this share count as the same.
  std::vector<ChangeGroup> groups;  ///< Each group has at least one change.
  std::vector<Change> same;         ///< These figures differ by at most `least_change`.
  std::vector<Figure> only_before;  ///< Only the first profile has these figures.
  std::vector<Figure> only_after;   ///< Only the second profile has these figures.
};

/// Compares the figures of two profiles. A `least_change` of 0.03 stands for 3 %.
Comparison compare(std::span<const Figure> before, std::span<const Figure> after,
                   double least_change);

/// Returns the number of the figures that are the same, as a sentence.
std::string same_text(const Comparison& comparison);

/// Returns the comparison as lines of text for a terminal.
std::string text_of(const Comparison& comparison);

}  // namespace report
