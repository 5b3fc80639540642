// matrix_product() multiplies matrices as ONNX's MatMul does.
#pragma once

#include "engine/onnx/import/network_import.hpp"

namespace penstock {

/// Returns the product of a [...,M,K] and b [...,K,N], whose axes before the matrices broadcast, or
/// that of their transposes.
Imported matrix_product(NetworkImport& network, Imported& a, Imported& b, bool transpose_a = false,
                        bool transpose_b = false);

}  // namespace penstock
