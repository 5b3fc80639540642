// Whether a file's directory lets a user put another file in its place. Pure.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

namespace penstock {

/// In a sticky directory, such as /tmp, only the owner of a file, or of the directory, may replace
/// it; root may everywhere. That the directory may be written is another question.
bool replaceable(const struct stat& directory, const struct stat& file, uid_t user) noexcept;

}  // namespace penstock
