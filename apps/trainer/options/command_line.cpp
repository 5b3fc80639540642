#include "apps/trainer/options/command_line.hpp"

#include <algorithm>
#include <boost/program_options.hpp>
#include <sstream>

#include "apps/trainer/options/configuration.hpp"
#include "apps/trainer/options/option_table.hpp"
#include "apps/trainer/options/refuse.hpp"
#include "penstock/error.hpp"
#include "penstock/version.hpp"

namespace trainer {
namespace {

namespace po = boost::program_options;
using ParsedOption = po::basic_option<char>;

constexpr unsigned help_columns = 96;
constexpr unsigned help_text_columns = 64;

constexpr const char* introduction =
    "Usage: penstock-train [OPTION]...\n"
    "\n"
    "Trains a network on images, or a language model on a text, as a pipeline of stages over\n"
    "virtual devices (IPUs). Then prints its accuracy on the test set, or its loss on the rest\n"
    "of the text. With --download, gets a data set instead. Defaults stand in brackets.\n";

constexpr const char* conclusion =
    "One step takes batch-size x gradient-accumulation x device-iterations x\n"
    "replication-factor images or windows.\n"
    "\n"
    "Blocks: mnist-cnn and fashion-cnn B1 to B4 (convolution, convolution, linear, linear);\n"
    "cifar-cnn B1 to B4 (three convolutions, linear); mlp B1 to B4 (256, 128, 64 and 32, 10\n"
    "features); resnet18 and resnet50 B1 to B4 (up to layer1, layer2, layer3, from layer4 on);\n"
    "mobilenet-v2 B1 to B4 (from features.0, 4, 8 and 14 on); gpt embed, h.0, h.1 and so on,\n"
    "and head. With --begin-block, there are the blocks that it names in their place. A network\n"
    "of --onnx has none by itself, and is one stage unless an option cuts it.\n"
    "\n"
    "With --model gpt, other defaults hold: --dataset text --batch-size 12\n"
    "--gradient-accumulation 1 --epochs 1000 --max-updates 2000 --test-batch-size 12\n"
    "--lr-schedule cosine --lr-warmup 100 --lr-last 0.1 --beta2 0.99 --weight-decay 0.1, of\n"
    "matrices only, --max-grad-norm 1 --stages auto:1.\n"
    "\n"
    "A file for --config is a JSON object of options by their names: numbers, true or false for\n"
    "switches, and texts as above for the rest. --debug=false turns off a switch that it turns\n"
    "on; --momentum \"\", or null in the file, takes back a value that an option need not have.\n"
    "\n"
    "Exit code: 0 if all went well, 1 if the run failed, 2 if it was refused before its first\n"
    "step; a shell shows SIGINT and SIGTERM as 130 and 143. Files are written at the end, whole\n"
    "or not at all, except for checkpoints, which are written on the way. A run whose progress\n"
    "nobody reads any more goes on; one whose accuracy cannot be printed fails, with its files\n"
    "written.\n"
    "\n"
    "Examples:\n"
    "  penstock-train\n"
    "  penstock-train --strategy sharded --profile --profile-dir sharded_profile\n"
    "  penstock-train --model mlp --optimizer sgd --momentum 0.9 --stages \"B1,B2|B3,B4\"\n"
    "  penstock-train --download mnist --data-dir ~/mnist\n"
    "  penstock-train --dataset mnist --data-dir ~/mnist --epochs 5 --save-weights mnist.st\n"
    "  penstock-train --model gpt --data-dir input.txt --sample 500\n"
    "  penstock-train --model resnet50 --dataset cifar10 --data-dir ~/cifar-10-batches-bin\n"
    "    --begin-block layer4=1 --gradient-accumulation 3 --replication-factor 2\n"
    "  penstock-train --onnx net.onnx --begin-block layer4=1 --save-weights net.st\n"
    "  penstock-train --checkpoint-dir run --resume\n"
    "  penstock-train --optimizer sgd --print-config > run.json\n"
    "  penstock-train --config run.json --epochs 1\n";

enum class For { help, reading };

/// Adds `row` to `description` under the name `spelling`. A switch may have a value on the command
/// line, which the help does not show.
void add(po::options_description& description, const OptionRow& row, const std::string& spelling,
         For purpose) {
  const char* const name = spelling.c_str();
  if (row.value_name.empty() && purpose == For::help)
    description.add_options()(name, row.help.c_str());
  else if (row.value_name.empty())
    description.add_options()(name, po::value<std::string>()->implicit_value(""), "");
  else
    description.add_options()(name, po::value<std::string>()->value_name(row.value_name),
                              row.help.c_str());
}

po::options_description describe(const OptionGroup& group, For purpose) {
  po::options_description description(group.title, help_columns, help_text_columns);
  for (const OptionRow& row : group.rows) {
    add(description, row, row.name, purpose);
    if (purpose == For::reading && !row.alias.empty()) add(description, row, row.alias, purpose);
  }
  return description;
}

po::options_description describe_all(For purpose) {
  po::options_description all("", help_columns, help_text_columns);
  for (const OptionGroup& group : option_groups()) all.add(describe(group, purpose));
  po::options_description other("Other", help_columns, help_text_columns);
  other.add_options()  //
      ("config", po::value<std::string>()->value_name("FILE"),
       "take the options that this file (JSON) names; those on the command line override it")  //
      ("print-config", "print such a file of all options that have a value, and run nothing")  //
      ("help,h", "show this text")("version", "print the version");
  return all.add(other), all;
}

/// Returns the options that were given. Each option has its name, even if it was given by its other
/// spelling.
std::vector<ParsedOption> split_into_options(int argc, const char* const* argv) {
  namespace style = po::command_line_style;
  try {
    std::vector<ParsedOption> parsed = po::command_line_parser(argc, argv)
                                           .options(describe_all(For::reading))
                                           .style(style::unix_style & ~style::allow_guessing)
                                           .run()
                                           .options;
    for (ParsedOption& option : parsed)
      if (const OptionRow* const row = find_option(option.string_key))
        option.string_key = row->name;
    return parsed;
  } catch (const po::unknown_option& error) {
    refuse(error.what() + advice_on_unknown(error.get_option_name(), "--"));
  } catch (const po::error& error) {
    refuse(std::string(error.what()) + "; --help lists what there is");
  }
}

/// Returns the value of the option `name`, or nothing if the option is not given. The value of a
/// switch that is given without a value is empty.
std::optional<std::string> value_of(const std::vector<ParsedOption>& parsed,
                                    const std::string& name) {
  for (const ParsedOption& option : parsed)
    if (option.string_key == name) return option.value.empty() ? "" : option.value.front();
  return std::nullopt;
}

/// Returns `parsed` with each option once: the texts of an option that may be given several times
/// are joined. Any other option that is given twice is refused.
std::vector<ParsedOption> without_repetitions(const std::vector<ParsedOption>& parsed) {
  std::vector<ParsedOption> single;
  for (const ParsedOption& option : parsed) {
    if (option.position_key >= 0)
      refuse("unexpected argument \"" + option.value.front() + "\": every option opens with --");
    const auto seen = std::ranges::find(single, option.string_key, &ParsedOption::string_key);
    const OptionRow* const row = find_option(option.string_key);
    if (seen == single.end())
      single.push_back(option);
    else if (row != nullptr && row->is_repeatable)
      seen->value.front() += ',' + option.value.front();
    else
      refuse("--" + option.string_key + ": given twice");
  }
  return single;
}

/// Sets the option in `parsed`. An option about the command line itself, such as --config, sets
/// nothing.
void set(TrainerOptions& options, const ParsedOption& parsed) {
  const OptionRow* const row = find_option(parsed.string_key);
  if (row == nullptr) return;
  try {
    row->set(options, parsed.value.empty() ? "" : parsed.value.front());
  } catch (const penstock::Error& error) {
    refuse("--" + parsed.string_key + ": " + error.what());
  }
}

/// A Choice has the options that the user has set on the command line and in a configuration file.
struct Choice {
  std::vector<ParsedOption> parsed;
  std::optional<Configuration> configuration = {};

  /// Sets those of the options that were given for which `reads` is true. Returns the lines of the
  /// options in the file.
  OptionLines set_in(TrainerOptions& options,
                     const std::function<bool(const std::string& name)>& reads) const {
    OptionLines lines;
    if (configuration) lines = apply(*configuration, options, reads);
    for (const ParsedOption& option : parsed)
      if (reads(option.string_key)) set(options, option);
    return lines;
  }

  /// Returns the defaults of all options. They depend on some of the options that were given.
  TrainerOptions defaults() const {
    TrainerOptions options;
    set_in(options, [](const std::string& name) { return name == "model"; });
    TrainerOptions of_model = defaults_of(options.network.model);
    options = of_model;
    set_in(options, [](const std::string& name) {
      return std::ranges::count(options_with_defaults, name) > 0;
    });
    return fitting_defaults(std::move(of_model), options);
  }
};

/// Returns the name of the option with which a refusal begins: "beta1" for "--beta1: ...", and
/// "lr-schedule" for "--lr-schedule step: ...". Returns an empty text if the refusal begins with no
/// option.
std::string refused_option(const std::string& text) {
  return text.substr(0, 2) == "--" ? text.substr(2, text.find_first_of(": ") - 2) : "";
}

/// Checks that the options fit each other. If only the configuration file sets the option that is
/// refused, the refusal begins with the option's line in the file.
void validate(const TrainerOptions& options, const std::vector<ParsedOption>& parsed,
              const OptionLines& lines) try {
  options.validate();
} catch (const penstock::Error& error) {
  const std::string name = refused_option(error.what());
  const auto line = lines.find(name);
  if (line == lines.end() || value_of(parsed, name)) throw;
  throw penstock::Error(error.code(), "--config \"" + *options.configuration + "\": line " +
                                          std::to_string(line->second) + ": " + error.what());
}

/// Returns a line about those of the options that change nothing because they are of a run, while
/// --download runs nothing. Returns an empty text if there are none.
std::string idle_beside_download(const std::vector<ParsedOption>& parsed) {
  std::string names;
  for (const ParsedOption& option : parsed)
    if (const OptionRow* const row = find_option(option.string_key); row && !row->is_for_downloads)
      names += (names.empty() ? "--" : ", --") + option.string_key;
  return names.empty() ? "" : "--download runs nothing, so that these change nothing: " + names;
}

}  // namespace

Command read_command_line(int argc, const char* const* argv) {
  const std::vector<ParsedOption> all = split_into_options(argc, argv);
  if (value_of(all, "help")) return {.text = help_text()};
  if (value_of(all, "version"))
    return {.text = "penstock-train " + std::string(penstock::version) + '\n'};
  const std::vector<ParsedOption> parsed = without_repetitions(all);

  Choice choice{.parsed = parsed};
  if (const auto file = value_of(parsed, "config"))
    choice.configuration = read_configuration(*file);
  Command command;
  const TrainerOptions defaults = choice.defaults();
  command.options = defaults;
  if (choice.configuration) command.options.configuration = choice.configuration->file;
  const OptionLines lines = choice.set_in(command.options, [](const std::string&) { return true; });
  validate(command.options, parsed, lines);
  if (command.options.download.dataset) command.note = idle_beside_download(parsed);
  if (value_of(parsed, "print-config"))
    command.text = configuration_text(command.options, defaults);
  return command;
}

std::string help_text() {
  std::ostringstream text;
  text << introduction << describe_all(For::help) << '\n' << conclusion;
  return text.str();
}

}  // namespace trainer
