// These pure functions say whether two files are the same, whether a user may replace a file by
// another one, and which permissions the new file may keep.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

namespace penstock {

/// Returns whether `one` and `other` describe the same file, whatever paths lead to it.
bool same_file(const struct stat& one, const struct stat& other) noexcept;

/// Returns whether the sticky bit of `directory` allows `user` to replace `file` in it. In a sticky
/// directory, such as /tmp, only the file's owner, the directory's owner and root may replace a
/// file. The permission to write into the directory is not checked.
bool replaceable(const struct stat& directory, const struct stat& file, uid_t user) noexcept;

/// Returns the permissions of a file that replaces one with `mode`. If the new file does not keep
/// the owner, it has no set-user-ID bit. If it does not keep the group, it has no set-group-ID bit,
/// and the group gets the permissions that all other users have.
mode_t kept_mode(mode_t mode, bool keeps_owner, bool keeps_group) noexcept;

}  // namespace penstock
