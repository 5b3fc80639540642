// nearest_name() finds what a misspelt name was meant to be, for messages such as "did you mean".
#pragma once

#include <span>
#include <string_view>

#include "penstock/standard.hpp"

namespace penstock {

/// Returns the one of `known` that `name` most probably stands for, or an empty text if none is
/// near. Case, '-' and '_' do not count. A known name is near if few of its letters differ (at most
/// one in three letters of `name`, or one letter), if `name` consists of the initials of its words
/// ("lr" for "learning-rate"), if the known name begins with `name`, or with at least the first
/// three quarters of `name` ("replicas" for "replication-factor"), or if `name` is one of its words
/// ("workers" for "num-workers"). A part of a name counts only if it has four letters or more, and
/// no known name is near to a `name` of more than 64 bytes. If several names are equally near, the
/// first one is returned. The function throws nothing but std::bad_alloc.
std::string_view nearest_name(std::string_view name, std::span<const std::string_view> known);

}  // namespace penstock
