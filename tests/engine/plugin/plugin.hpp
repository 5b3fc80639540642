// What the test of a plug-in calls in it, each by its name.
#pragma once

/// Makes a model and trains it.
extern "C" void train_a_model();
/// Returns 1 if Error out_of_memory refuses a new model and a step of the trained one, else 0.
extern "C" int is_refused_for_want_of_memory();
