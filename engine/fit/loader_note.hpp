// A LoaderNote tells the host's log, at most once, which samples of a loader fill no batch. A loop
// over the loader's batches makes it. One thread uses it.
#pragma once

#include "engine/log/log.hpp"
#include "engine/model/model_access.hpp"
#include "penstock/data_loader.hpp"

namespace penstock {

class LoaderNote {
 public:
  /// Makes the note of a loop that calls `model`, a TrainingModel or an InferenceModel.
  explicit LoaderNote(const auto& model)
      : log_(model.options().runtime, *ModelAccess::calls(model)) {}

  /// Writes the loader's note to the log, if there is one and none was written before. The note is
  /// a warning if samples are left out. For an iterable dataset, the note is known only at the end
  /// of an epoch, so this function is to be called there, too.
  void tell(const DataLoader& data) {
    const bool dropped = data.dropped_samples() > 0;
    const LogLevel level = dropped ? LogLevel::warning : LogLevel::info;
    if (written_ || !log_.takes(level)) return;
    const std::string note = data.note();
    if (note.empty()) return;
    log_(level, note);
    written_ = true;
  }

 private:
  Log log_;
  bool written_ = false;
};

}  // namespace penstock
