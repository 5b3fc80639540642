#include <filesystem>
#include <system_error>

#include "engine/profile/profile_trace.hpp"
#include "engine/profile/report_page.hpp"
#include "graph/values/hosts_thread.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"
#include "penstock/output_file.hpp"
#include "penstock/profile.hpp"

namespace penstock {
namespace {

constexpr const char* subject = "the files of a profile";

const std::filesystem::path& made(const std::filesystem::path& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error)
    throw Error(Errc::io_error, "cannot create the directory \"" + printable(directory.string()) +
                                    "\": " + error.message());
  return directory;
}

}  // namespace

struct ProfileFiles::Files {
  explicit Files(const std::filesystem::path& directory)
      : trace(made(directory) / "trace.json"),
        figures(directory / "profile.json"),
        report(directory / "report.html") {}

  /// Returns the files that are not in place yet.
  std::vector<OutputFile*> remaining() {
    std::vector<OutputFile*> files{&trace, &figures, &report};
    files.erase(files.begin(), files.begin() + committed);
    return files;
  }

  OutputFile trace, figures, report;
  int committed = 0;  // This many files are in place.
};

ProfileFiles::ProfileFiles(const std::string& directory)
    : files_(on_hosts_thread(subject, [&] { return std::make_unique<Files>(directory); })) {}

ProfileFiles::~ProfileFiles() = default;
ProfileFiles::ProfileFiles(ProfileFiles&&) noexcept = default;
ProfileFiles& ProfileFiles::operator=(ProfileFiles&&) noexcept = default;

std::vector<std::string> ProfileFiles::paths_in(const std::string& directory) {
  return on_hosts_thread(subject, [&] {
    std::vector<std::string> paths;
    for (const char* name : {"trace.json", "profile.json", "report.html"})
      paths.push_back((std::filesystem::path(directory) / name).string());
    return paths;
  });
}

void ProfileFiles::write(const Profile& profile) {
  on_hosts_thread(subject, [&] {
    write_profile_trace(files_->trace, profile);
    files_->figures.write(to_json(profile) + '\n');
    files_->report.write(report_page(profile));
  });
}

void ProfileFiles::sync() {
  on_hosts_thread(subject, [&] {
    for (OutputFile* file : files_->remaining()) file->sync();
  });
}

void ProfileFiles::commit() {
  on_hosts_thread(subject, [&] {
    for (OutputFile* file : files_->remaining()) {
      file->commit();
      ++files_->committed;
    }
  });
}

void write_profile(const std::string& directory, const Profile& profile) {
  ProfileFiles files(directory);
  files.write(profile);
  files.sync();
  files.commit();
}

}  // namespace penstock
