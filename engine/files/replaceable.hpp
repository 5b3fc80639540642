// These functions say whether two files are the same, whether a user may put another file in the
// place of one, and which permissions the new one may keep. All functions are pure.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

namespace penstock {

/// Returns whether `one` and `other` describe the same file, whatever paths lead to it.
bool same_file(const struct stat& one, const struct stat& other) noexcept;

/// Returns whether `user` may replace the file: in a sticky directory, such as /tmp, only its
/// owner, the directory's, and root may. Whether the directory may be written is another question.
bool replaceable(const struct stat& directory, const struct stat& file, uid_t user) noexcept;

/// Returns the permissions of a file that replaces one with `mode`. If the owner changes, the
/// set-user-ID bit goes; if the group changes, the group may do no more than everybody.
mode_t kept_mode(mode_t mode, bool keeps_owner, bool keeps_group) noexcept;

}  // namespace penstock
