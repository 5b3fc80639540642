// print_download() downloads a data set, and tells a person how that goes.
#pragma once

#include "apps/trainer/options/options.hpp"

namespace trainer {

/// Downloads what `options.download` says to `options.data.data_dir`. Prints a line about each
/// file, and shows on a terminal how much of it has come. @throws penstock::Error as download()
/// does, with the option's name before the text.
void print_download(const TrainerOptions& options);

}  // namespace trainer
