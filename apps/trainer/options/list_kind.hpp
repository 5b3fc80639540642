// These are the kinds of options whose values are lists: of numbers, of blocks, of stages and of
// phases.
#pragma once

#include <string>
#include <vector>

#include "apps/trainer/options/options.hpp"
#include "apps/trainer/options/value_kind.hpp"

namespace trainer {

/// Reads whole numbers from 0 to `most`, separated by commas.
ValueKind<std::vector<int>> number_list(const std::string& value_name, int most);
/// Reads "all", for which the list is empty, or whole numbers from 0 to `most`, separated by
/// commas.
ValueKind<std::vector<int>> stage_numbers(const std::string& value_name, int most);
/// Reads names of layers, separated by commas, with an IPU from 0 to `most` behind those that are
/// to be on it, such as "layer3,layer4=1".
ValueKind<std::vector<BlockStart>> block_starts(const std::string& value_name, int most);
/// Reads names, separated by commas. `expected` says what each of them is to be.
ValueKind<std::vector<std::string>> name_list(const std::string& value_name,
                                              const std::string& expected);
/// Reads blocks that are grouped into stages, such as "B1,B2|B3,B4", or "auto", or "auto:" and a
/// number of stages from 1 to `most`.
ValueKind<StagesOption> stage_list(const std::string& value_name, int most);
/// Reads stages that are grouped into phases, such as "B1|B2;B3".
ValueKind<std::vector<penstock::Phase>> phase_list(const std::string& value_name);

}  // namespace trainer
