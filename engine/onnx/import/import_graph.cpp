#include "engine/onnx/import/import_graph.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "engine/onnx/import/check_options.hpp"
#include "engine/onnx/import/graph_plan.hpp"
#include "engine/onnx/import/import_attempt.hpp"
#include "engine/onnx/import/import_survey.hpp"
#include "engine/onnx/import/sample_axis.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

/// Adds those of `needed` to `known` whose values the options have. Returns whether that made a
/// difference.
bool add_given(std::set<std::string>& known, const std::vector<std::string>& needed,
               const OnnxOptions& options) {
  const std::size_t before = known.size();
  for (const std::string& name : needed)
    if (std::ranges::find(options.inputs, name, &NamedTensor::name) != options.inputs.end())
      known.insert(name);
  return known.size() > before;
}

/// Imports a graph with one choice of the axis that counts samples. If operators need to know
/// inputs, those that the options have become constants if `may_know` says so.
ImportedGraph attempt(const ImportRequest& request, const GraphPlan& plan, TensorReader& reader,
                      const SampleAxis& axis, bool may_know) {
  std::set<std::string> known;
  for (;;) {
    try {
      return ImportAttempt(request, plan, reader, axis, known).import();
    } catch (const NeededInputs& needed) {
      if (!may_know || !add_given(known, needed.sources.names(), request.options)) throw;
    }
  }
}

/// Imports a graph with the first choice of the axis that counts samples for which that can be
/// done.
ImportedGraph import_by_any_axis(const ImportRequest& request, const GraphPlan& plan,
                                 TensorReader& reader, const std::vector<SampleAxis>& axes) {
  const bool has_values = !request.options.inputs.empty();
  std::optional<Error> refusal;
  bool needs_values = false;  // If this is true, a second round with the values may succeed.
  const auto refuse = [&](const std::string& text) {
    if (!refusal) refusal.emplace(Errc::unsupported, text);
  };
  for (const bool may_know : {false, true}) {
    for (const SampleAxis& axis : axes) try {
        return attempt(request, plan, reader, axis, may_know);
      } catch (const MixedSamples& mixed) {
        refuse(mixed.text);
      } catch (const NeededInputs& needed) {
        if (!may_know && has_values)
          needs_values = true;
        else
          refuse(text_of(needed));
      } catch (const Error& error) {
        // The last choice is that no axis counts samples. What refused the others is the cause.
        const bool is_last_word = !refusal && (may_know || !needs_values);
        if (!axis.whole || is_last_word) throw;
      }
    if (!has_values) break;
  }
  throw *refusal;
}

ImportSurvey survey_of(const ImportRequest& request, const GraphPlan& plan, TensorReader& reader,
                       const SampleAxis& axis) {
  std::set<std::string> known;
  for (;;) {
    ImportSurvey survey;
    ImportAttempt(request, plan, reader, axis, known).look_through(survey);
    if (!add_given(known, survey.needed(), request.options)) return survey;
  }
}

/// Returns all that cannot be imported. Another choice of the axis that counts samples may do
/// without what one of them has refused, so that the first one without such doubts decides.
std::optional<ImportSurvey> survey_by_any_axis(const ImportRequest& request, const GraphPlan& plan,
                                               TensorReader& reader,
                                               const std::vector<SampleAxis>& axes) {
  std::optional<ImportSurvey> first;
  for (const SampleAxis& axis : axes) {
    ImportSurvey survey = survey_of(request, plan, reader, axis);
    if (survey.is_empty()) continue;
    if (!survey.is_doubtful()) return survey;
    if (!first) first = std::move(survey);
  }
  return first;
}

/// Calls `import` with the parts of a request, and `refuse` with a survey if the result is that
/// something is not supported.
template <class Import, class Refuse>
auto surveyed(const ImportRequest& request, const Import& import, const Refuse& refuse) {
  TensorReader reader(request.directory);
  const GraphPlan plan = plan_graph(request.file, reader);
  check_options(plan, request.options, request.is_run);
  const std::vector<SampleAxis> axes = sample_axes(plan.inputs, request.options, request.is_run);
  try {
    return import(import_by_any_axis(request, plan, reader, axes));
  } catch (const Error& error) {
    if (error.code() != Errc::unsupported) throw;
    const auto survey = survey_by_any_axis(request, plan, reader, axes);
    if (!survey) throw;
    return refuse(*survey);
  }
}

}  // namespace

ImportedGraph import_graph(const ImportRequest& request) {
  return surveyed(
      request, [](ImportedGraph graph) { return graph; },
      [](const ImportSurvey& survey) -> ImportedGraph {
        throw Error(Errc::unsupported, survey.text());
      });
}

std::vector<OnnxRefusal> refusals_of(const ImportRequest& request) {
  return surveyed(
      request, [](const ImportedGraph&) { return std::vector<OnnxRefusal>(); },
      [](const ImportSurvey& survey) {
        if (survey.refusals().empty()) throw Error(Errc::unsupported, survey.text());
        return survey.refusals();
      });
}

}  // namespace penstock
