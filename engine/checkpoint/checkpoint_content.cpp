#include "engine/checkpoint/checkpoint_content.hpp"

#include <zlib.h>

#include <string_view>
#include <utility>

#include "engine/settings/json_fields.hpp"
#include "graph/values/number_range.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

constexpr int format_version = 2;
/// Whole numbers up to this one are exact in a double, in which schedules count updates.
constexpr NumberRange counted{.low = 0, .high = 0x1p53};
constexpr const char* optimizer_key = "optimizer";
constexpr const char* options_key = "options";

/// A Heading has the numbers of a checkpoint, and the names of its states. The file names a state
/// by its place in `states`, because a name may have any characters.
struct Heading {
  int format = format_version;
  std::uint64_t updates = 0, epoch = 0, skipped_epochs = 0;
  std::int64_t batches = 0, samples_per_batch = 0, replica_buffers_length = 0;
  bool epoch_begun = false;
  std::size_t replicas_with_buffers = 0;
  std::vector<std::string> states = {};
};

template <class AnyHeading>
requires std::is_same_v<std::remove_const_t<AnyHeading>, Heading>
void each_field(AnyHeading& heading, const auto& visit) {
  visit("format", heading.format);
  visit("updates", heading.updates);
  visit("epoch", heading.epoch);
  visit("batches", heading.batches);
  visit("skipped_epochs", heading.skipped_epochs);
  visit("epoch_begun", heading.epoch_begun);
  visit("samples_per_batch", heading.samples_per_batch);
  visit("replicas_with_buffers", heading.replicas_with_buffers);
  visit("replica_buffers_length", heading.replica_buffers_length);
  visit("states", heading.states);
}

std::string state_prefix(std::size_t place) {
  return "state/" + std::to_string(place) + '/';
}

std::string buffer_prefix(std::size_t replica) {
  return "buffers/" + std::to_string(replica) + '/';
}

uLong crc_on(uLong before, std::string_view bytes) {
  const uLong length = bytes.size();  // The length keeps "ab" and "c" apart from "a" and "bc".
  before = crc32_z(before, reinterpret_cast<const Bytef*>(&length), sizeof length);
  return crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
}

void add(WeightsFile& content, const std::string& prefix, const std::vector<NamedTensor>& tensors) {
  for (const auto& [name, tensor] : tensors)
    if (!content.tensors.emplace(prefix + name, tensor).second)
      throw Error(Errc::invalid_argument,
                  "checkpoint: tensor " + quoted_text(prefix + name) + " is there twice");
}

/// Calls `take(name, value)` for each item of `items` whose name begins with `prefix`, with the
/// rest of the name.
void take_with(auto& items, const std::string& prefix, const auto& take) {
  for (auto item = items.lower_bound(prefix);
       item != items.end() && item->first.starts_with(prefix); ++item)
    take(item->first.substr(prefix.size()), std::move(item->second));
}

std::vector<NamedTensor> tensors_with(WeightsFile& content, const std::string& prefix) {
  std::vector<NamedTensor> tensors;
  take_with(content.tensors, prefix, [&](std::string name, Tensor tensor) {
    tensors.push_back({std::move(name), std::move(tensor)});
  });
  return tensors;
}

SavedState state_with(WeightsFile& content, const std::string& prefix) {
  SavedState state{.tensors = tensors_with(content, prefix)};
  take_with(content.metadata, prefix, [&](std::string name, std::string text) {
    state.texts.emplace(std::move(name), std::move(text));
  });
  return state;
}

const std::string& text_of(const WeightsFile& content, const char* key,
                           const std::string& subject) {
  const auto found = content.metadata.find(key);
  if (found != content.metadata.end()) return found->second;
  throw Error(Errc::corrupt_file,
              subject + ": expected a checkpoint, got a file without the text " + quoted_text(key));
}

Heading heading_of(const std::string& text, const std::string& subject) try {
  const JsonValue json = parse_json(text);
  for (const JsonValue& field : json.items)
    if (field.name == "format" && field.text != std::to_string(format_version))
      throw Error(Errc::unsupported,
                  "expected format " + std::to_string(format_version) + ", got " + describe(field));
  Heading heading;
  FieldReader reader;
  reader.read_fields(heading_key, json, heading);
  check_number("checkpoint.updates", static_cast<double>(heading.updates), counted);
  check_number("checkpoint.epoch", static_cast<double>(heading.epoch), counted);
  check_number("checkpoint.skipped_epochs", static_cast<double>(heading.skipped_epochs), counted);
  check_number("checkpoint.batches", static_cast<double>(heading.batches), counted);
  return heading;
} catch (const Error& error) {
  const bool unsupported = error.code() == Errc::unsupported;
  throw Error(unsupported ? Errc::unsupported : Errc::corrupt_file, subject + ": " + error.what());
}

}  // namespace

std::string checksum_of(const WeightsFile& content) {
  uLong crc = crc32_z(0, nullptr, 0);
  for (const auto& [name, tensor] : content.tensors) {
    crc = crc_on(crc_on(crc, name), to_string(tensor.shape()));
    crc = crc_on(crc, to_string(tensor.dtype()));
    crc = crc_on(crc, {reinterpret_cast<const char*>(tensor.raw()), tensor.bytes()});
  }
  for (const auto& [name, text] : content.metadata)
    if (name != checksum_key) crc = crc_on(crc_on(crc, name), text);
  return hexadecimal(crc, 8);
}

WeightsFile content_of(const Checkpoint& checkpoint) {
  Heading heading{.updates = checkpoint.updates,
                  .epoch = checkpoint.position.epoch,
                  .skipped_epochs = checkpoint.position.skipped,
                  .batches = checkpoint.position.batches,
                  .samples_per_batch = checkpoint.samples_per_batch,
                  .replica_buffers_length = checkpoint.replica_buffers_length,
                  .epoch_begun = checkpoint.position.begun,
                  .replicas_with_buffers = checkpoint.replica_buffers.size()};
  WeightsFile content;
  add(content, "weights/", checkpoint.weights);
  add(content, "optimizer/", checkpoint.optimizer_state);
  for (std::size_t i = 0; i < checkpoint.replica_buffers.size(); ++i)
    add(content, buffer_prefix(i + 1), checkpoint.replica_buffers[i]);
  for (const auto& [name, state] : checkpoint.states) {
    const std::string prefix = state_prefix(heading.states.size());
    add(content, prefix, state.tensors);
    for (const auto& [key, text] : state.texts) content.metadata[prefix + key] = text;
    heading.states.push_back(name);
  }
  content.metadata[optimizer_key] = checkpoint.optimizer;
  content.metadata[options_key] = checkpoint.options;
  content.metadata[heading_key] = to_json(written(heading));
  content.metadata[checksum_key] = checksum_of(content);
  return content;
}

Checkpoint checkpoint_of(WeightsFile content, const std::string& subject) {
  const std::string expected = text_of(content, checksum_key, subject);
  if (const std::string got = checksum_of(content); got != expected)
    throw Error(Errc::corrupt_file, subject + ": expected the checksum " +
                                        quoted_text(shortened(expected, 100)) + ", got " + got +
                                        ": the file is damaged");
  const Heading heading = heading_of(text_of(content, heading_key, subject), subject);
  Checkpoint checkpoint{
      .updates = heading.updates,
      .weights = tensors_with(content, "weights/"),
      .replica_buffers_length = heading.replica_buffers_length,
      .optimizer_state = tensors_with(content, "optimizer/"),
      .optimizer = text_of(content, optimizer_key, subject),
      .options = text_of(content, options_key, subject),
      .position = {heading.epoch, heading.batches, heading.skipped_epochs, heading.epoch_begun},
      .samples_per_batch = heading.samples_per_batch};
  // A list of buffers is made only if there are some, so that the number alone takes no memory.
  for (std::size_t i = 0; i < heading.replicas_with_buffers; ++i) {
    checkpoint.replica_buffers.push_back(tensors_with(content, buffer_prefix(i + 1)));
    if (checkpoint.replica_buffers.back().empty())
      throw Error(Errc::corrupt_file, subject + ": expected buffers of " +
                                          std::to_string(heading.replicas_with_buffers) +
                                          " replicas after the first, got those of " +
                                          std::to_string(i));
  }
  for (std::size_t i = 0; i < heading.states.size(); ++i)
    checkpoint.states[heading.states[i]] = state_with(content, state_prefix(i));
  return checkpoint;
}

}  // namespace penstock
