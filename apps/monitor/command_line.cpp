#include "apps/monitor/command_line.hpp"

#include <boost/program_options.hpp>
#include <cmath>
#include <sstream>

#include "penstock/error.hpp"
#include "penstock/version.hpp"

namespace monitor {
namespace {

namespace po = boost::program_options;

constexpr const char* introduction =
    "Usage: penstock-monitor [options]\n\n"
    "Shows the processes of this user that train or run models with Penstock on this machine: "
    "what\n"
    "their IPUs do, and how far their models are. It needs no preparation of these processes.\n\n";
constexpr double shortest_interval = 0.1, longest_interval = 3600;

[[noreturn]] void refuse(const std::string& text) {
  throw penstock::Error(penstock::Errc::invalid_argument, text);
}

}  // namespace

Command read_command_line(int argc, const char* const* argv) {
  Command command;
  po::options_description options("Options");
  auto add = options.add_options();
  add("help,h", "print this text");
  add("version", "print the version");
  add("once", po::bool_switch(&command.once), "show one picture and end");
  add("json", po::bool_switch(&command.json),
      "print one picture as JSON, which docs/monitoring.md describes, and end");
  add("why", po::bool_switch(&command.why),
      "print what every part of each pipeline waits for, from whom and since when, and end");
  add("pid", po::value<std::int64_t>()->value_name("PID"), "look at this process alone");
  add("interval",
      po::value<double>(&command.interval_seconds)
          ->value_name("SECONDS")
          ->default_value(command.interval_seconds, "1"),
      "time between two pictures, and time over which one picture's rates are");
  po::variables_map values;
  try {
    const auto parsed = po::command_line_parser(argc, argv)
                            .options(options)
                            .positional(po::positional_options_description())
                            .run();
    po::store(parsed, values);
    po::notify(values);
  } catch (const po::error& error) {
    refuse(error.what());
  }
  if (values.count("pid")) command.pid = values["pid"].as<std::int64_t>();
  if (command.pid && *command.pid < 1) refuse("--pid: expected the number of a process");
  if (!(command.interval_seconds >= shortest_interval) ||
      command.interval_seconds > longest_interval)
    refuse("--interval: expected a number of seconds from 0.1 to 3600");
  if (values.count("help")) {
    std::ostringstream text;
    text << introduction << options;
    command.text = text.str();
  } else if (values.count("version")) {
    command.text = "penstock-monitor " + std::string(penstock::version) + '\n';
  }
  return command;
}

}  // namespace monitor
