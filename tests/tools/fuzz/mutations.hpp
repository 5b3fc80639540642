// Mutations of bytes, drawn from a seed.
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <string>

namespace penstock::testing {

/// `bytes` after one to eight changes: bytes set, turned, inserted, removed, copied, cut off, or
/// replaced by numbers that lie at limits, by one of `words`, or by a part of `other`.
std::string mutated(std::string bytes, std::span<const std::string> words, const std::string& other,
                    std::mt19937_64& random);

}  // namespace penstock::testing
