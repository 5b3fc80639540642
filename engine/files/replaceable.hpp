// Whether a user may put another file in the place of one, and what the new one may keep. Pure.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

namespace penstock {

/// Returns whether `user` may replace the file: in a sticky directory, such as /tmp, only its
/// owner, the directory's, and root may. Whether the directory may be written is another question.
bool replaceable(const struct stat& directory, const struct stat& file, uid_t user) noexcept;

/// The permissions of a file that replaces one with `mode`. Without the same owner it runs as
/// nobody but its caller; another group than before may do no more than everybody.
mode_t kept_mode(mode_t mode, bool keeps_owner, bool keeps_group) noexcept;

}  // namespace penstock
