#include "tests/support/golden_timelines.hpp"

#include <sstream>

namespace penstock::testing {
namespace {

constexpr GoldenTimeline timelines[] = {
    {"PopartCycleOfFourIpus", "grouped", graph::Discipline::popart_cycle, 4, 10, R"(
cyc | IPU0     | IPU1     | IPU2     | IPU3    
  0 | F1       | .        | .        | .       
  1 | F2       | F1       | .        | .       
  2 | F3       | F2       | F1       | .       
  3 | F4       | F3       | F2       | F1 B1   
  4 | F5       | F4       | F3 B1    | F2 B2   
  5 | F6       | F5 B1    | F4 B2    | F3 B3   
  6 | F7 B1    | F6 B2    | F5 B3    | F4 B4   
  7 | F8 B2    | F7 B3    | F6 B4    | F5 B5   
  8 | F9 B3    | F8 B4    | F7 B5    | F6 B6   
  9 | F10 B4   | F9 B5    | F8 B6    | F7 B7   
 10 | B5       | F10 B6   | F9 B7    | F8 B8   
 11 | B6       | B7       | F10 B8   | F9 B9   
 12 | B7       | B8       | B9       | F10 B10 
 13 | B8       | B9       | B10      | .       
 14 | B9       | B10      | .        | .       
 15 | B10      | .        | .        | .       
)"},
    {"PopartCycleOfTwoIpus", "grouped", graph::Discipline::popart_cycle, 2, 3, R"(
cyc | IPU0     | IPU1    
  0 | F1       | .       
  1 | F2       | F1 B1   
  2 | F3 B1    | F2 B2   
  3 | B2       | F3 B3   
  4 | B3       | .       
)"},
    {"TfGroupedOfTwoIpus", "grouped", graph::Discipline::tf_grouped_step, 2, 4, R"(
cyc | IPU0     | IPU1    
  0 | F1       | .       
  1 | F2       | F1      
  2 | F3       | B1 F2   
  3 | B1 F4    | B2 F3   
  4 | B2       | B3 F4   
  5 | B3       | B4      
  6 | B4       | .       
)"},
    {"TfInterleavedOfTwoIpus", "interleaved", graph::Discipline::tf_interleaved_slot, 2, 4, R"(
cyc | IPU0     | IPU1    
  0 | F1       | .       
  1 | .        | F1      
  2 | F2       | B1      
  3 | B1       | F2      
  4 | F3       | B2      
  5 | B2       | F3      
  6 | F4       | B3      
  7 | B3       | F4      
  8 | .        | B4      
  9 | B4       | .       
)"},
    {"TfInterleavedOfFourIpus", "interleaved", graph::Discipline::tf_interleaved_slot, 4, 8, R"(
cyc | IPU0     | IPU1     | IPU2     | IPU3    
  0 | F1       | .        | .        | .       
  1 | .        | F1       | .        | .       
  2 | F2       | .        | F1       | .       
  3 | .        | F2       | .        | F1      
  4 | F3       | .        | F2       | B1      
  5 | .        | F3       | B1       | F2      
  6 | F4       | B1       | F3       | B2      
  7 | B1       | F4       | B2       | F3      
  8 | F5       | B2       | F4       | B3      
  9 | B2       | F5       | B3       | F4      
 10 | F6       | B3       | F5       | B4      
 11 | B3       | F6       | B4       | F5      
 12 | F7       | B4       | F6       | B5      
 13 | B4       | F7       | B5       | F6      
 14 | F8       | B5       | F7       | B6      
 15 | B5       | F8       | B6       | F7      
 16 | .        | B6       | F8       | B7      
 17 | B6       | .        | B7       | F8      
 18 | .        | B7       | .        | B8      
 19 | B7       | .        | B8       | .       
 20 | .        | B8       | .        | .       
 21 | B8       | .        | .        | .       
)"},
};

}  // namespace

std::span<const GoldenTimeline> golden_timelines() {
  return timelines;
}

std::vector<std::string> order_by_stage(std::string_view table, int stages) {
  std::vector<std::string> orders(static_cast<std::size_t>(stages));
  std::istringstream lines{std::string(table)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream cells(line);
    int column = -1;  // The first column has the numbers of the rows.
    for (std::string word; cells >> word;) {
      if (word == "|") ++column;
      if (column < 0 || (word[0] != 'F' && word[0] != 'B')) continue;
      std::string& order = orders.at(static_cast<std::size_t>(column));
      order += (order.empty() ? "" : " ") + word;
    }
  }
  return orders;
}

void PrintTo(const GoldenTimeline& golden, std::ostream* stream) {
  *stream << golden.name;
}

}  // namespace penstock::testing
