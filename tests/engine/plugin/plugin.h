/* A host finds these functions in the plug-in by their names. The host is a program in C, which
   comes without the C++ library: that library is loaded with the plug-in. */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/* Makes a model and drops it. A thread that calls this is prepared to throw. */
void make_a_model(void);
/* Makes a model, which the plug-in keeps, and trains it. */
void train_a_model(void);
/* Makes a model, which the plug-in keeps, and trains it until a step fails, so that nothing runs
   any more and the newest weights have not been read yet. If `by_short_plan` is 0, the plan for
   full steps has these weights; otherwise the plan for shorter steps has them, which has taken the
   IPU from the plan for full steps. */
void train_a_model_until_it_fails(int by_short_plan);
/* Destroys the training model, but not the model. */
void end_the_training(void);
/* Returns 1 if the model has the weights that were trained, else 0. */
int has_the_trained_weights(void);
/* Takes all memory that the process has, and sees to it that the process gets no more. Returns 1 if
   this has succeeded, else 0. */
int take_memory(void);
/* Calls `function` from inside a step of the model that train_a_model() has trained. */
void call_inside_a_step(void (*function)(void));
/* Asks a new loader for its first batch. */
void read_a_batch(void);
/* Asks the loader of read_a_batch(), or else a new one, for a batch. The thread that reads it takes
   all memory and throws. Returns 1 if Error out_of_memory refuses the batch, else 0. */
int is_batch_refused_whose_reader_takes_memory(void);
/* Returns 1 if Error out_of_memory refuses a new model, and the weights and a step of the model
   that was trained, else 0. */
int is_refused_for_want_of_memory(void);

#ifdef __cplusplus
}
#endif
