#include "engine/model/text_table.hpp"
#include "graph/values/out_of_memory.hpp"
#include "penstock/report_text.hpp"

namespace penstock {
namespace {

TextRow row(const std::string& name, std::int64_t number, const std::string& meaning) {
  return {name, std::to_string(number), meaning};
}

std::string inputs_of_replicas(const CallSize& call) {
  if (call.input_group_size == 1) return "each with samples of its own";
  return "groups of " + std::to_string(call.input_group_size) + " get the same samples";
}

}  // namespace

std::string to_string(const CallSize& call) {
  return or_out_of_memory("the table of a call", [&] {
    const bool training = call.training;
    const std::string per_call = training ? " per step" : " per run";
    const std::string micro_batches = training ? "G x D x R" : "D x R";
    const std::string groups =
        call.input_group_size == 1 ? "" : " / " + std::to_string(call.input_group_size);

    std::vector<TextRow> rows{row("batch size b", call.batch_size, "samples per micro-batch")};
    if (training)
      rows.push_back(row("gradient accumulation G", call.gradient_accumulation,
                         "micro-batches per replica and weight update"));
    rows.push_back(row("device iterations D", call.device_iterations,
                       training ? "weight updates per step" : "micro-batches per replica and run"));
    rows.push_back(row("replicas R", call.replicas, inputs_of_replicas(call)));
    rows.push_back(row("micro-batches" + per_call, call.micro_batches(), "= " + micro_batches));
    if (training) rows.push_back(row("updates per step", call.updates(), "= D"));
    rows.push_back(row("samples" + per_call, call.samples(), "= b x " + micro_batches + groups));
    return text_table(rows);
  });
}

}  // namespace penstock
