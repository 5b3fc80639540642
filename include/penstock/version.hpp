// This header has the version of Penstock that the headers belong to. A test compares that version
// with the one that the build has.
#pragma once

#include <string_view>

/// PENSTOCK_VERSION is 10000 * major + 100 * minor + patch, for `#if` in a host that supports
/// several versions.
#define PENSTOCK_VERSION 100

namespace penstock {

/// `version_major` is the major version, which is the first number in 1.2.3.
inline constexpr int version_major = 0;
/// `version_minor` is the minor version, which is the second number in 1.2.3.
inline constexpr int version_minor = 1;
/// `version_patch` is the patch version, which is the third number in 1.2.3.
inline constexpr int version_patch = 0;
/// `version` is the version as text: the major, minor and patch versions with dots between them.
inline constexpr std::string_view version = "0.1.0";

}  // namespace penstock
