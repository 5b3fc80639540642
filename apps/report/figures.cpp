#include "apps/report/figures.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <system_error>

#include "penstock/error.hpp"
#include "penstock/terminal_text.hpp"

namespace report {
namespace {

using penstock::JsonValue;
using Kind = JsonValue::Kind;

const JsonValue& field(const JsonValue& object, const std::string& name, Kind kind) {
  const auto found = std::ranges::find(object.items, name, &JsonValue::name);
  if (object.kind != Kind::object || found == object.items.end() || found->kind != kind)
    throw penstock::Error(penstock::Errc::invalid_data,
                          "line " + std::to_string(object.line) + ": expected the field \"" + name +
                              "\" of a profile, got " + penstock::describe(object));
  return *found;
}

double number(const JsonValue& object, const std::string& name) {
  const std::string& text = field(object, name, Kind::number).text;
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::string label(const JsonValue& object, const std::string& name) {
  return field(object, name, Kind::text).text;
}

std::string formatted(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

class Figures {
 public:
  explicit Figures(const JsonValue& profile) : profile_(profile) {}

  std::vector<Figure> list() {
    add_run();
    for (const JsonValue& stage : items("stages")) add_stage(stage);
    for (const JsonValue& ipu : items("ipus")) add_ipu(ipu);
    for (const JsonValue& op : items("ops")) add_op(op);
    return std::move(figures_);
  }

 private:
  const std::vector<JsonValue>& items(const std::string& name) const {
    return field(profile_, name, Kind::list).items;
  }
  /// Adds a figure. Its name has texts of the profile, which may come from anywhere: they must not
  /// steer the terminal that shows them.
  void add(const std::string& name, Unit unit, double value) {
    figures_.push_back({penstock::terminal_text(name), unit, value});
  }

  void add_run() {
    const double seconds = number(profile_, "call_seconds");
    const double samples = number(profile_, "samples");
    add("the whole run", Unit::samples_per_second, seconds > 0 ? samples / seconds : 0);
    add("the bubble", Unit::share_of_idleness,
        number(field(profile_, "bubble", Kind::object), "measured"));
    add("compiling", Unit::seconds, number(field(profile_, "compile", Kind::object), "seconds"));
  }

  void add_stage(const JsonValue& stage) {
    const std::string name = "stage " + field(stage, "stage", Kind::number).text;
    for (const char* direction : {"forward", "backward", "update"}) {
      const JsonValue& times = field(stage, direction, Kind::object);
      if (number(times, "runs") > 0)
        add(name + ", " + direction, Unit::seconds, number(times, "mean_seconds"));
    }
  }

  void add_ipu(const JsonValue& ipu) {
    const std::string name = "IPU " + field(ipu, "ipu", Kind::number).text;
    const JsonValue& memory = field(ipu, "memory", Kind::object);
    add(name + ", peak of memory", Unit::bytes, number(memory, "peak_bytes"));
    for (const JsonValue& one : field(memory, "classes", Kind::object).items)
      add(name + ", " + one.name, Unit::bytes,
          number(field(memory, "classes", Kind::object), one.name));
    const JsonValue& seconds = field(ipu, "seconds", Kind::object);
    const double total = number(seconds, "total");
    add(name + ", idle", Unit::share_of_idleness, total > 0 ? number(seconds, "idle") / total : 0);
  }

  void add_op(const JsonValue& op) {
    if (number(op, "timed_runs") == 0) return;
    const bool backward = field(op, "backward", Kind::boolean).truth;
    std::string name = "stage " + field(op, "stage", Kind::number).text +
                       (backward ? " backward, " : " forward, ") + label(op, "op") + " \"" +
                       label(op, "name") + '"';
    // A program may have several instructions of one name, such as copies.
    const int count = ++ops_[name];
    if (count > 1) name += " #" + std::to_string(count);
    add(name, Unit::seconds, number(op, "mean_seconds"));
  }

  const JsonValue& profile_;
  std::vector<Figure> figures_;
  std::map<std::string, int> ops_;  // So far, this many ops have had each name.
};

std::string content(const std::filesystem::path& file) {
  errno = 0;
  std::ifstream stream(file, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(stream), {}};
  if (!stream)
    throw penstock::Error(penstock::Errc::io_error,
                          "cannot read \"" + file.string() +
                              "\": " + std::generic_category().message(errno) +
                              "; expected a directory that --profile has written, such as "
                              "profile/training, or its profile.json");
  return text;
}

}  // namespace

std::string value_text(Unit unit, double value) {
  switch (unit) {
    case Unit::seconds:
      return value < 1e-3 ? formatted("%.2f us", value * 1e6)
             : value < 1  ? formatted("%.3f ms", value * 1e3)
                          : formatted("%.3f s", value);
    case Unit::bytes:
      return value < 1e6 ? formatted("%.1f kB", value / 1e3) : formatted("%.2f MB", value / 1e6);
    case Unit::share_of_idleness:
      return formatted("%.1f %%", 100 * value);
    case Unit::samples_per_second:
      return formatted("%.0f samples/s", value);
  }
  return "";
}

std::string factor_text(double factor) {
  return formatted("%.2f times", factor);
}

std::string percent_text(double share) {
  return formatted("%.4g %%", 100 * share);
}

std::vector<Figure> figures_of(const JsonValue& profile) {
  return Figures(profile).list();
}

std::vector<Figure> read_figures(const std::filesystem::path& path) {
  const std::filesystem::path file =
      std::filesystem::is_directory(path) ? path / "profile.json" : path;
  const std::string text = content(file);
  try {
    return figures_of(penstock::parse_json(text));
  } catch (const penstock::Error& error) {
    throw penstock::Error(penstock::Errc::invalid_data,
                          '"' + file.string() + "\": " + error.what());
  }
}

}  // namespace report
