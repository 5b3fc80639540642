/* What a host calls in the plug-in, each function by its name. The host is a program in C, which
   comes without the C++ library: that library is loaded with the plug-in. */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/* Makes a model and drops it. A thread that calls this is prepared to throw. */
void make_a_model(void);
/* Makes a model, which it keeps, and trains it. */
void train_a_model(void);
/* Makes a model, which it keeps, and trains it until a step fails, so that nothing runs any more
   and the newest weights have not been read yet. The plan that has them is the one for full steps,
   or the one for shorter steps, which takes the IPU from the other one. */
void train_a_model_until_it_fails(int by_short_plan);
/* Destroys what trains the model. */
void end_the_training(void);
/* Returns 1 if the model has the weights that were trained, else 0. */
int has_the_trained_weights(void);
/* Takes all memory that the process has, and sees to it that it gets no more. Returns 1 if that is
   so, else 0. */
int take_memory(void);
/* Calls `function` from inside a step of the model that train_a_model() has trained. */
void call_inside_a_step(void (*function)(void));
/* Asks a new loader for its first batch. */
void read_a_batch(void);
/* Asks the loader of read_a_batch(), or else a new one, for a batch, whose reading thread takes all
   memory and throws. Returns 1 if Error out_of_memory refuses the batch, else 0. */
int is_batch_refused_whose_reader_takes_memory(void);
/* Returns 1 if Error out_of_memory refuses a new model, the weights and a step of the one that was
   trained, else 0. */
int is_refused_for_want_of_memory(void);

#ifdef __cplusplus
}
#endif
