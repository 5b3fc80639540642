#include "benchmarks/measuring/table.hpp"

#include <cstdio>

namespace penstock::benchmarks {
namespace {

std::string verdict(const char* relation, double goal, bool reached, int decimals) {
  return relation + number(goal, decimals) + (reached ? " reached" : " missed");
}

}  // namespace

void print_header() {
  print({.work = "work",
         .unit = "unit",
         .setting = "setting",
         .penstock = "Penstock",
         .of_peak = "% of peak",
         .pytorch = "PyTorch",
         .pytorch_setting = "setting",
         .times = "times",
         .goals = {"goal"}});
}

void print(const Row& row) {
  std::string goals;
  for (const std::string& goal : row.goals) goals += (goals.empty() ? "" : ", ") + goal;
  std::printf("%-39s %-8s %-23s %9s %14s %13s %-16s %6s  %s\n", row.work.c_str(), row.unit.c_str(),
              row.setting.c_str(), row.penstock.c_str(), row.of_peak.c_str(), row.pytorch.c_str(),
              row.pytorch_setting.c_str(), row.times.c_str(), goals.c_str());
  std::fflush(stdout);
}

std::string number(double value, int decimals) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return text;
}

std::string at_least(double goal, double measured, int decimals) {
  return verdict(">= ", goal, measured >= goal, decimals);
}

std::string at_most(double goal, double measured, int decimals) {
  return verdict("<= ", goal, measured <= goal, decimals);
}

}  // namespace penstock::benchmarks
