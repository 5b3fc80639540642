// mutated() makes random changes to bytes.
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <string>

namespace penstock::testing {

/// Returns `bytes` after one to eight changes. A change alters, copies, removes or cuts off bytes,
/// or it inserts or overwrites some with a number at a limit, with one of `words` or with a part of
/// `other`.
std::string mutated(std::string bytes, std::span<const std::string> words, const std::string& other,
                    std::mt19937_64& random);

}  // namespace penstock::testing
