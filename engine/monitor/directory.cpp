#include "engine/monitor/directory.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "graph/values/hosts_thread.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"
#include "penstock/monitor.hpp"

namespace penstock {
namespace {

constexpr const char* for_everybody = "/tmp";

bool is_directory_of_user(const std::string& path) noexcept {
  struct stat found;
  return ::lstat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode) &&
         found.st_uid == ::geteuid();
}

std::string name_in_tmp() {
  return std::string(for_everybody) + "/penstock-" + std::to_string(::geteuid());
}

}  // namespace

std::string name_of_monitor_directory() {
  const char* const named = std::getenv("XDG_RUNTIME_DIR");
  const std::string runtime = named ? named : "";
  if (runtime.starts_with('/') && is_directory_of_user(runtime)) return runtime + "/penstock";
  return name_in_tmp();
}

bool is_private_directory(const std::string& path) noexcept {
  struct stat found;
  constexpr mode_t of_others = S_IRWXG | S_IRWXO;
  return ::lstat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode) &&
         found.st_uid == ::geteuid() && (found.st_mode & of_others) == 0;
}

std::string made_monitor_directory() {
  std::string path = name_of_monitor_directory();
  ::mkdir(path.c_str(), S_IRWXU);  // A directory that was there before is checked afterwards.
  if (!is_private_directory(path))
    throw Error(Errc::io_error,
                "expected a directory that is closed to others in " + quoted_text(path));
  return path;
}

std::vector<std::string> monitor_directories() {
  return on_hosts_thread("monitor_directories", [] {
    std::vector<std::string> directories;
    for (const std::string& path :
         {name_of_monitor_directory(), "/run/user/" + std::to_string(::geteuid()) + "/penstock",
          name_in_tmp()})
      if (is_private_directory(path) && std::ranges::count(directories, path) == 0)
        directories.push_back(path);
    return directories;
  });
}

std::string monitor_directory() {
  return on_hosts_thread("monitor_directory", [] {
    std::string path = name_of_monitor_directory();
    return is_private_directory(path) ? path : std::string();
  });
}

}  // namespace penstock
