// open_texts() opens the text that penstock-train trains a language model on.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "apps/trainer/options/options.hpp"
#include "penstock/dataset.hpp"
#include "penstock/text.hpp"

namespace trainer {

struct Texts {
  std::shared_ptr<const penstock::Dataset> train;  ///< `train` has the fields tokens and next.
  /// `test` has the windows, side by side, of the text that is not for training.
  std::shared_ptr<const penstock::Dataset> test;
  penstock::Vocabulary vocabulary;
  std::string file;  ///< `file` is the path of the text.
};

/// Reads the text. The first nine tenths of its tokens are for training; windows of `context`
/// tokens begin anywhere there, as drawn from `seed`, or stand side by side with --no-shuffle.
/// @throws penstock::Error that names the file, and what to do about it.
Texts open_texts(const DataOptions& options, std::int64_t context, std::uint64_t seed);

}  // namespace trainer
