#include "engine/fit/fit_progress.hpp"

#include <limits>

#include "engine/fit/saved_numbers.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

constexpr std::size_t numbers_of_record = 7;

/// Returns the numbers of `record`, without its values.
std::vector<std::int64_t> numbers_in(const EpochRecord& record) {
  return {record.epoch,
          record.steps,
          static_cast<std::int64_t>(record.updates),
          bits_of(record.seconds),
          bits_of(record.waited_seconds),
          record.validation_samples,
          record.validation_left_out};
}

/// Checks a number that a checkpoint has of the progress. @throws Error invalid_data if it is not
/// from `low` to `high`.
void check_count(const char* name, std::int64_t number, std::int64_t low, std::int64_t high) {
  if (number < low || number > high)
    throw Error(Errc::invalid_data, std::string("fit: checkpoint: ") + name + ": expected " +
                                        std::to_string(low) + " to " + std::to_string(high) +
                                        ", got " + std::to_string(number));
}

EpochRecord record_of(std::span<const std::int64_t> numbers) {
  constexpr int most = std::numeric_limits<int>::max();
  check_count("epoch", numbers[0], 1, most);
  check_count("steps", numbers[1], 0, most_counted);
  check_count("updates", numbers[2], 0, most_counted);
  check_count("validation samples", numbers[5], 0, most_counted);
  check_count("validation samples left out", numbers[6], 0, most_counted);
  return {.epoch = static_cast<int>(numbers[0]),
          .steps = numbers[1],
          .updates = static_cast<std::uint64_t>(numbers[2]),
          .seconds = number_of(numbers[3]),
          .waited_seconds = number_of(numbers[4]),
          .validation_samples = numbers[5],
          .validation_left_out = numbers[6]};
}

}  // namespace

SavedState saved(const FitProgress& progress, const std::vector<std::string>& names) {
  std::vector<std::int64_t> now = numbers_in(progress.epoch), ended;
  now.push_back(static_cast<std::int64_t>(progress.updates));
  now.push_back(progress.begun);
  now.push_back(progress.stopped);
  for (const EpochRecord& record : progress.epochs) {
    const std::vector<std::int64_t> numbers = numbers_in(record);
    ended.insert(ended.end(), numbers.begin(), numbers.end());
    for (const NamedValue& value : record.values) ended.push_back(bits_of(value.value));
  }
  SavedState state{.texts = {{"values", joined(names)}}, .tensors = {{"progress", tensor_of(now)}}};
  if (!ended.empty()) state.tensors.push_back({"epochs", tensor_of(ended)});
  add_part(state, "scores/", progress.scores);
  return state;
}

FitProgress progress_in(const SavedState& state, const std::vector<std::string>& names) {
  if (const std::string& values = state.text("values"); values != joined(names))
    throw Error(Errc::invalid_argument, "fit: expected the values " + printable(values) +
                                            ", as the training has that was saved, got " +
                                            printable(joined(names)));
  const auto now = whole_numbers(state, "progress", numbers_of_record + 3);
  check_count("updates", now[numbers_of_record], 0, most_counted);
  FitProgress progress{.epoch = record_of(now),
                       .begun = now[numbers_of_record + 1] != 0,
                       .stopped = now[numbers_of_record + 2] != 0,
                       .updates = static_cast<std::uint64_t>(now[numbers_of_record]),
                       .scores = part_of(state, "scores/")};
  const auto count = static_cast<std::size_t>(progress.epoch.epoch - 1);
  if (count == 0) return progress;
  const std::size_t each = numbers_of_record + names.size();
  auto ended = whole_numbers(state, "epochs", count * each);
  for (; !ended.empty(); ended = ended.subspan(each)) {
    EpochRecord& record = progress.epochs.emplace_back(record_of(ended));
    for (std::size_t i = 0; i < names.size(); ++i)
      record.values.push_back({names[i], number_of(ended[numbers_of_record + i])});
  }
  return progress;
}

}  // namespace penstock
