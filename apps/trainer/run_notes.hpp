// These functions write what a run tells its user: lines on stderr, and parts of such lines.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "apps/trainer/output/metrics.hpp"
#include "apps/trainer/task.hpp"
#include "penstock/penstock.hpp"

namespace trainer {

/// This is the end of a message about a training that diverges.
inline constexpr const char* remedy = "; a lower --learning-rate or a --max-grad-norm may help";

std::string percent(double fraction);
/// Returns the loss of a step and, if there is one, its accuracy, for its bar of progress.
std::string describe(const StepMetrics& step);
/// Returns as a text the product of options that is a step's number of samples.
std::string step_size(const penstock::Options& options);
/// Returns a line with a step's numbers of samples, micro-batches and weight updates, which are
/// easily confused.
std::string describe_step(const penstock::Options& options, const Task& task);

/// Says how many of the task's training samples fill no step.
void note_dropped(const penstock::DataLoader& loader, const Task& task);
/// Prints which stages were chosen, and the warnings of the compiler.
void note_report(const penstock::CompileReport& report);
/// Prints the warnings that compiling for inference gave and compiling for training did not.
void note_more(const penstock::CompileReport& inference, const penstock::CompileReport& training);
/// Prints where the time of the training went, and what would make it faster.
void print_profile(const penstock::Profile& profile);
/// Says that a run that goes on from `checkpoint` with `options`, on data of `samples` samples, has
/// other steps than before, if its weights may therefore become others than those of a run that was
/// never stopped.
void note_other_steps(const penstock::Checkpoint& checkpoint, const penstock::Options& options,
                      std::int64_t samples);
/// Says that a run that goes on trains no further, if its `updates` weight updates so far are more
/// than `max_updates`.
void note_more_updates(std::uint64_t updates, std::optional<std::int64_t> max_updates);
/// Says that the signal number `signal` has ended the training after `updates` weight updates, and,
/// if there is a checkpoint, that it was made after `saved_at` of them.
void note_interruption(int signal, std::uint64_t updates, std::optional<std::uint64_t> saved_at);
/// Says that the signal number `signal` has ended the test. `kept` is what kept_text() returns.
void note_interrupted_test(int signal, const std::string& kept);

/// Returns what a finished training with these options has left on the disk, besides profiles, and
/// whether its weights are lost, as a part of a sentence.
std::string kept_text(const TrainerOptions& options);

}  // namespace trainer
