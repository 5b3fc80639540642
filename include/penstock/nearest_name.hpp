// nearest_name() finds what a misspelt name was meant to be, for messages such as "did you mean".
#pragma once

#include <span>
#include <string_view>

namespace penstock {

/// Returns the one of `known` that `name` most probably stands for, or nothing if none is near.
/// Case, '-' and '_' do not count. Near are a name with few other letters (one in three at most),
/// one of whose words `name` has the initials ("lr" for "learning-rate"), one that `name` begins
/// ("replicas" for "replication-factor"), and one that has `name` as a word ("workers" for
/// "num-workers"). The first of several that are equally near is returned. Throws nothing but
/// std::bad_alloc.
std::string_view nearest_name(std::string_view name, std::span<const std::string_view> known);

}  // namespace penstock
