// This header includes everything that a host application needs.
#pragma once

#if __cplusplus < 202002L
#error "Penstock needs C++20: compile with -std=c++20 (Meson: cpp_std=c++20, CMake: cxx_std_20)"
#else

#include "penstock/call_report.hpp"
#include "penstock/call_size.hpp"
#include "penstock/chrome_trace.hpp"
#include "penstock/classification_metrics.hpp"
#include "penstock/csv.hpp"
#include "penstock/custom_op.hpp"
#include "penstock/data_loader.hpp"
#include "penstock/data_loader_json.hpp"
#include "penstock/dataset.hpp"
#include "penstock/error.hpp"
#include "penstock/fit.hpp"
#include "penstock/fit_callbacks.hpp"
#include "penstock/inference_model.hpp"
#include "penstock/initializer.hpp"
#include "penstock/ipu_order.hpp"
#include "penstock/iterable_dataset.hpp"
#include "penstock/json_value.hpp"
#include "penstock/layer_stages.hpp"
#include "penstock/learning_rate_schedule.hpp"
#include "penstock/load_options.hpp"
#include "penstock/loss.hpp"
#include "penstock/metric.hpp"
#include "penstock/model.hpp"
#include "penstock/model_average.hpp"
#include "penstock/monitor.hpp"
#include "penstock/named_tensor.hpp"
#include "penstock/nearest_name.hpp"
#include "penstock/npy.hpp"
#include "penstock/objective.hpp"
#include "penstock/onnx.hpp"
#include "penstock/optimizer.hpp"
#include "penstock/optimizer_json.hpp"
#include "penstock/optimizer_rules.hpp"
#include "penstock/optimizer_settings.hpp"
#include "penstock/options.hpp"
#include "penstock/options_json.hpp"
#include "penstock/output_file.hpp"
#include "penstock/profile.hpp"
#include "penstock/report.hpp"
#include "penstock/report_text.hpp"
#include "penstock/safetensors.hpp"
#include "penstock/sequential.hpp"
#include "penstock/shape.hpp"
#include "penstock/tensor.hpp"
#include "penstock/terminal_text.hpp"
#include "penstock/text.hpp"
#include "penstock/trace.hpp"
#include "penstock/training_model.hpp"
#include "penstock/transforms.hpp"
#include "penstock/version.hpp"
#include "penstock/wav.hpp"

/// The namespace `penstock` has everything that a host application uses. Doxygen describes and
/// checks the functions of a namespace only if the namespace has a description.
namespace penstock {}

#endif
