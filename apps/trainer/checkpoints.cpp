#include "apps/trainer/checkpoints.hpp"

#include <charconv>
#include <cstring>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "apps/trainer/options/configuration.hpp"
#include "apps/trainer/options/excerpt.hpp"
#include "apps/trainer/output/console.hpp"
#include "penstock/error.hpp"

namespace trainer {
namespace {

constexpr const char* options_key = "options";
constexpr const char* first_update_key = "first_update";
constexpr const char* onnx_key = "onnx_sha256";
constexpr const char* lines_name = "metrics";

std::string named_directory(const CheckpointOptions& options) {
  return "--checkpoint-dir \"" + *options.dir + '"';
}

std::uint64_t number_in(const std::string& text) {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  if (const auto [stop, error] = std::from_chars(text.data(), end, number);
      error == std::errc() && stop == end)
    return number;
  throw penstock::Error(penstock::Errc::invalid_data,
                        "a checkpoint: expected a number of updates, got something else");
}

/// Returns a text that says in what the imported network of a run differs from that of a run that
/// is to go on from it. Returns an empty text if it does not. `before` and `now` are the paths of
/// the files, and `sha256` is the digest of the file at `now`.
std::string import_difference(const std::string& before, const std::string& before_sha256,
                              const std::string& now, const std::string& sha256) {
  const std::string was = excerpt(before, longest_name), is = excerpt(now, longest_name);
  if (before_sha256.empty())
    return before == now ? ""
                         : "--onnx: expected the path " + was +
                               ", because the checkpoint has no SHA-256 of the file, so that only "
                               "its path can be compared, got " +
                               is + "; give the path that the run had";
  return before_sha256 == sha256
             ? ""
             : "--onnx: expected the network that the run trains, " + was + " with the SHA-256 " +
                   before_sha256 + ", got " + is + " with " + sha256 +
                   "; give the file that the run began with, or begin a run with another "
                   "--checkpoint-dir";
}

/// Returns a text that says in what the run of `before` differs from one with the options `now`,
/// whose file of --onnx has the digest `sha256`. Returns an empty text if they do not differ.
std::string run_differences(const RunState& before, const TrainerOptions& now,
                            const std::string& sha256) {
  const std::optional<std::string> onnx_before = option_in(before.options, "onnx");
  const std::optional<std::string>& onnx_now = now.network.onnx;
  if (onnx_before && !onnx_now)
    return "--onnx: expected the imported network that the run trains, " +
           excerpt(*onnx_before, longest_name) + ", got --model " + now.network.model +
           "; name its file with --onnx";
  if (!onnx_before && onnx_now)
    return "--onnx: expected --model " + option_in(before.options, "model").value_or("") +
           ", which the run trains, got the imported network " + excerpt(*onnx_now, longest_name) +
           "; leave --onnx out";
  const std::string imported =
      onnx_now ? import_difference(*onnx_before, before.onnx_sha256, *onnx_now, sha256) : "";
  const std::string others = differences(before.options, now);
  return imported + (imported.empty() || others.empty() ? "" : "; ") + others;
}

}  // namespace

penstock::SavedState saved(const RunState& state) {
  const std::span bytes(reinterpret_cast<const std::uint8_t*>(state.lines.data()),
                        state.lines.size());
  const penstock::Shape shape{static_cast<std::int64_t>(bytes.size())};
  return {.texts = {{options_key, state.options},
                    {first_update_key, std::to_string(state.first_update)},
                    {onnx_key, state.onnx_sha256}},
          .tensors = {{lines_name, penstock::Tensor(shape, bytes)}}};
}

RunState run_state(const penstock::SavedState& state) {
  const auto bytes = state.tensor(lines_name).as<std::uint8_t>();
  const auto onnx_sha256 = state.texts.find(onnx_key);
  return {.options = state.text(options_key),
          .first_update = number_in(state.text(first_update_key)),
          .lines = {bytes.begin(), bytes.end()},
          .onnx_sha256 = onnx_sha256 == state.texts.end() ? "" : onnx_sha256->second};
}

RunCheckpoints::RunCheckpoints(const TrainerOptions& options, std::string onnx_sha256)
    : options_(options.checkpoints), onnx_sha256_(std::move(onnx_sha256)) {
  if (!options_.dir) return;
  directory_ = std::make_unique<penstock::CheckpointDirectory>(*options_.dir, options_.keep);
  if (options_.resume)
    find_newest(options);
  else if (!directory_->numbers().empty())
    throw penstock::Error(penstock::Errc::invalid_argument,
                          named_directory(options_) +
                              ": has the checkpoints of an earlier run; --resume goes on from "
                              "them, and another directory keeps them");
}

void RunCheckpoints::find_newest(const TrainerOptions& options) {
  penstock::FoundCheckpoint found = directory_->newest();
  for (const std::string& skipped : found.skipped)
    print_note("--resume: " + skipped + "; it is passed over");
  if (!found.checkpoint && !found.skipped.empty())
    throw penstock::Error(
        penstock::Errc::corrupt_file,
        named_directory(options_) +
            ": no checkpoint in it is whole; with another directory, or without these files, "
            "the run begins anew");
  if (!found.checkpoint) {
    print_note("--resume: there is no checkpoint yet in " + named_directory(options_) +
               ", and the run begins");
    return;
  }
  const std::string subject = "--resume: \"" + found.path + "\": ";
  const auto state = found.checkpoint->states.find(std::string("callback ") + run_state_name);
  if (state == found.checkpoint->states.end())
    throw penstock::Error(penstock::Errc::invalid_data,
                          subject + "expected a checkpoint of penstock-train, got another");
  state_ = run_state(state->second);
  if (state_.first_update > found.checkpoint->updates)
    throw penstock::Error(penstock::Errc::invalid_data,
                          subject + "expected a run that began after at most " +
                              std::to_string(found.checkpoint->updates) + " updates, got " +
                              std::to_string(state_.first_update));
  if (const std::string changed = run_differences(state_, options, onnx_sha256_); !changed.empty())
    throw penstock::Error(penstock::Errc::invalid_argument,
                          subject + "the options are not those of the run: " + changed);
  resumed_ = std::move(found.checkpoint);
  newest_ = resumed_->updates;
}

TrainerOptions RunCheckpoints::without_beginnings(TrainerOptions options) const {
  if (!resumed_) return options;
  options.network.init_weights.reset();
  options.optimizer.init_state.reset();
  return options;
}

penstock::FitCheckpoints RunCheckpoints::for_fit() {
  if (!directory_) return {};
  return {.save =
              [this](penstock::Checkpoint checkpoint) {
                newest_ = checkpoint.updates;
                directory_->save(std::move(checkpoint));
              },
          .every_updates = options_.every,
          .resume = resumed_ ? &*resumed_ : nullptr};
}

void RunCheckpoints::wait() {
  if (directory_) directory_->wait();
}

}  // namespace trainer
