// Everything a host application needs.
#pragma once

#include "penstock/data_loader.hpp"
#include "penstock/dataset.hpp"
#include "penstock/error.hpp"
#include "penstock/inference_model.hpp"
#include "penstock/iterable_dataset.hpp"
#include "penstock/loss.hpp"
#include "penstock/model.hpp"
#include "penstock/optimizer.hpp"
#include "penstock/options.hpp"
#include "penstock/output_file.hpp"
#include "penstock/report.hpp"
#include "penstock/shape.hpp"
#include "penstock/tensor.hpp"
#include "penstock/trace.hpp"
#include "penstock/training_model.hpp"
#include "penstock/transforms.hpp"
