// A checkpoint's file holds what was saved, and a damaged file is never taken for a whole one.
#include <gtest/gtest.h>

#include <string>

#include "engine/checkpoint/checkpoint_content.hpp"
#include "engine/files/weights_file.hpp"
#include "penstock/checkpoint.hpp"
#include "penstock/error.hpp"
#include "penstock/safetensors.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/same_bits.hpp"
#include "tests/support/temporary_directory.hpp"

namespace penstock::testing {
namespace {

Tensor numbers(std::initializer_list<float> values) {
  const std::vector<float> copy(values);
  return {{static_cast<std::int64_t>(copy.size())}, std::span<const float>(copy)};
}

Checkpoint example() {
  const std::int64_t step = 7;
  Checkpoint checkpoint{.updates = 7,
                        .weights = {{"fc/weight", numbers({1, 2})}, {"norm.mean", numbers({3})}},
                        .replica_buffers = {{{"norm.mean", numbers({4})}}},
                        .replica_buffers_length = 6,
                        .optimizer_state = {{"step", Tensor({}, std::span(&step, 1))}},
                        .optimizer = "{}",
                        .options = "{}",
                        .position = {2, 3, 5},
                        .samples_per_batch = 40};
  checkpoint.states["a"] = {.texts = {{"k", "v\n"}}, .tensors = {{"t", numbers({5})}}};
  checkpoint.states["a/b"] = {.texts = {{"k", ""}}};
  checkpoint.states[""] = {};
  return checkpoint;
}

void expect_same(const std::vector<NamedTensor>& one, const std::vector<NamedTensor>& other) {
  ASSERT_EQ(one.size(), other.size());
  for (std::size_t i = 0; i < one.size(); ++i) {
    EXPECT_EQ(one[i].name, other[i].name);
    EXPECT_TRUE(same_bits(one[i].tensor, other[i].tensor)) << one[i].name;
  }
}

TEST(CheckpointFile, HoldsWhatWasSaved) {
  const TemporaryDirectory directory;
  const Checkpoint saved = example();
  save_checkpoint(directory / "c", saved);
  const Checkpoint loaded = load_checkpoint(directory / "c");
  EXPECT_EQ(loaded.updates, saved.updates);
  EXPECT_EQ(loaded.position, saved.position);
  EXPECT_EQ(loaded.samples_per_batch, saved.samples_per_batch);
  EXPECT_EQ(loaded.optimizer, saved.optimizer);
  EXPECT_EQ(loaded.options, saved.options);
  expect_same(loaded.weights, saved.weights);
  expect_same(loaded.optimizer_state, saved.optimizer_state);
  EXPECT_EQ(loaded.replica_buffers_length, saved.replica_buffers_length);
  ASSERT_EQ(loaded.replica_buffers.size(), 1U);
  expect_same(loaded.replica_buffers[0], saved.replica_buffers[0]);
  ASSERT_EQ(loaded.states.size(), saved.states.size());
  for (const auto& [name, state] : saved.states) {
    EXPECT_EQ(loaded.states.at(name).texts, state.texts) << name;
    expect_same(loaded.states.at(name).tensors, state.tensors);
  }
  EXPECT_EQ(load_safetensors(directory / "c").tensor("weights/norm.mean").as<float>()[0], 3);
}

TEST(CheckpointFile, SaysWhetherAnEpochHasBegunOfWhichNoBatchWasTaken) {
  const TemporaryDirectory directory;
  Checkpoint checkpoint = example();
  for (const bool begun : {false, true}) {
    checkpoint.position = {2, 0, 0, begun};
    save_checkpoint(directory / "c", checkpoint);
    EXPECT_EQ(load_checkpoint(directory / "c").position, checkpoint.position);
  }
}

TEST(CheckpointFile, IsNotWrittenIfItsTextsWouldBeRefused) {
  const TemporaryDirectory directory;
  Checkpoint large = example();
  large.states["a"].texts["k"] = std::string(100'000'000, 'x');
  const std::string text =
      refusal(Errc::invalid_argument, [&] { save_checkpoint(directory / "c", large); });
  EXPECT_TRUE(
      text.starts_with("writing tensors: expected names and texts that take at most "
                       "100000000 bytes"))
      << text;
  EXPECT_TRUE(directory.entries().empty());
}

// Each bit that is flipped shows, and so does each cut.
TEST(CheckpointFile, IsRefusedIfItIsDamaged) {
  const TemporaryDirectory directory;
  save_checkpoint(directory / "c", example());
  const std::string whole = file_content(directory / "c");
  const auto refuses = [&](const std::string& content) {
    write_file(directory / "c", content);
    try {
      load_checkpoint(directory / "c");
    } catch (const Error& error) {
      return error.code() == Errc::corrupt_file || error.code() == Errc::unsupported;
    }
    return false;
  };
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string flipped = whole;
    flipped[i] = static_cast<char>(flipped[i] ^ (1 << (i % 8)));
    EXPECT_TRUE(refuses(flipped)) << "bit " << i % 8 << " of byte " << i;
    EXPECT_TRUE(refuses(whole.substr(0, i))) << i << " bytes";
  }
  EXPECT_FALSE(refuses(whole));
}

TEST(CheckpointFile, IsRefusedIfItIsSomethingElse) {
  const TemporaryDirectory directory;
  const std::string path = directory / "c", name = "checkpoint \"" + path + "\": ";
  save_safetensors(path, {{"w", numbers({1})}});
  EXPECT_EQ(refusal(Errc::corrupt_file, [&] { load_checkpoint(path); }),
            name + "expected a checkpoint, got a file without the text \"checksum\"");
  save_checkpoint(path, example());
  WeightsFile file = read_weights_file(path);
  file.metadata["checksum"] = "00000000";
  write_weights_file(path, file);
  EXPECT_EQ(refusal(Errc::corrupt_file, [&] { load_checkpoint(path); }).substr(0, name.size() + 38),
            name + "expected the checksum \"00000000\", got ");
  EXPECT_NE(refusal(Errc::io_error, [&] { load_checkpoint(directory / "none"); }), "accepted");
}

TEST(CheckpointFile, OfAnotherFormatIsRefusedByItsFormat) {
  const TemporaryDirectory directory;
  const std::string path = directory / "c";
  save_checkpoint(path, example());
  WeightsFile file = read_weights_file(path);
  std::string& heading = file.metadata.at(heading_key);
  heading.replace(heading.find('2', heading.find("\"format\"")), 1, "1");
  file.metadata[checksum_key] = checksum_of(file);
  write_weights_file(path, file);
  EXPECT_EQ(refusal(Errc::unsupported, [&] { load_checkpoint(path); }),
            "checkpoint \"" + path + "\": expected format 2, got 1");
}

TEST(CheckpointFile, StaysAsItWasIfTheNextOneCannotBeSaved) {
  const TemporaryDirectory directory;
  save_checkpoint(directory / "c", example());
  Checkpoint bad = example();
  bad.states["bad"].texts["k"] = "\xff";
  EXPECT_NE(refusal(Errc::invalid_argument, [&] { save_checkpoint(directory / "c", bad); }),
            "accepted");
  EXPECT_EQ(load_checkpoint(directory / "c").updates, 7U);
}

TEST(SavedState, NamesWhatItDoesNotHave) {
  const SavedState state = example().states["a"];
  EXPECT_EQ(state.text("k"), "v\n");
  EXPECT_EQ(state.tensor("t").as<float>()[0], 5);
  EXPECT_EQ(refusal(Errc::invalid_data, [&] { state.text("x"); }),
            "a saved state: expected a text named \"x\", found none");
  EXPECT_EQ(refusal(Errc::invalid_data, [&] { state.tensor("x"); }),
            "a saved state: expected a tensor named \"x\", found none");
}

}  // namespace
}  // namespace penstock::testing
