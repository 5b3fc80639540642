/* This host loads a plug-in, whose thread finds no memory when it calls the plug-in. It ends with
   status 0 if the plug-in has refused these calls, or has destroyed the model and has its weights.
   Usage: host PLUGIN before|after
     The thread starts before the plug-in is loaded, or after, and calls the plug-in for the first
     time when memory has run out.
   Usage: host PLUGIN ends|ends_short
     The thread starts before the plug-in is loaded, and destroys a trained model when memory has
     run out. The model has failed, so that it frees nothing before its weights are read, from the
     plan for full steps or from the one for shorter steps.
   Usage: host PLUGIN behind OTHER
     Another plug-in has been loaded, and has thrown. One thread trains a model, and another one
   makes a model only, before memory runs out on a thread of the plug-in's. None of these threads
   has thrown anything so far.
   Usage: host PLUGIN crowded|inside|reader OTHER
     A thread makes a model, loads many copies of another library, makes another model, and then
   throws for the first time, when memory has run out, either outside a step or inside. Or a reader
   of the engine's has read when the copies are loaded, and throws when memory has run out. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/engine/plugin/plugin.h"

static sem_t has_called, memory_ran_out;
static void (*make)(void);
static void (*train)(void);
static void (*train_until_failure)(int by_short_plan);
static void (*end_training)(void);
static int (*has_weights)(void);
static void (*call_inside)(void (*function)(void));
static void (*read_batch)(void);
static int (*take)(void);
static int (*is_batch_refused)(void);
static int (*is_refused)(void);

/* This memory is given back when the model is destroyed, so that the weights can be asked for. */
static const size_t spare_bytes = 8 << 20;
static void* spare;

static void* end_without_memory(void* status) {
  sem_wait(&has_called);
  /* take() takes all that there is, because other threads leave memory to this one. */
  if (!take()) return NULL;
  end_training();
  munmap(spare, spare_bytes);
  *(int*)status = has_weights() ? 0 : 5;
  return NULL;
}

static void* call_without_memory(void* status) {
  sem_wait(&memory_ran_out);
  *(int*)status = is_refused() ? 0 : 5;
  return NULL;
}

static void* train_until_memory_runs_out(void* status) {
  train();
  *(int*)status = is_batch_refused() && take() && is_refused() ? 0 : 5;
  return NULL;
}

static void* call_before_and_after_memory_runs_out(void* status) {
  make();
  sem_post(&has_called);
  sem_wait(&memory_ran_out);
  *(int*)status = take() && is_refused() ? 0 : 6;
  return NULL;
}

static void* load_library(const char* path) {
  void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) fprintf(stderr, "%s\n", dlerror());
  return library;
}

/* The plug-in is never unloaded, because the library in it has threads. */
static int load(const char* path) {
  void* const plugin = load_library(path);
  if (!plugin) return 0;
  *(void**)&make = dlsym(plugin, "make_a_model");
  *(void**)&train = dlsym(plugin, "train_a_model");
  *(void**)&train_until_failure = dlsym(plugin, "train_a_model_until_it_fails");
  *(void**)&end_training = dlsym(plugin, "end_the_training");
  *(void**)&has_weights = dlsym(plugin, "has_the_trained_weights");
  *(void**)&call_inside = dlsym(plugin, "call_inside_a_step");
  *(void**)&read_batch = dlsym(plugin, "read_a_batch");
  *(void**)&take = dlsym(plugin, "take_memory");
  *(void**)&is_batch_refused = dlsym(plugin, "is_batch_refused_whose_reader_takes_memory");
  *(void**)&is_refused = dlsym(plugin, "is_refused_for_want_of_memory");
  return make && train && train_until_failure && end_training && has_weights && call_inside &&
         read_batch && take && is_batch_refused && is_refused;
}

static int load_and_throw(const char* path) {
  int (*throw_and_catch)(void);
  void* const plugin = load_library(path);
  *(void**)&throw_and_catch = plugin ? dlsym(plugin, "throw_and_catch") : NULL;
  return throw_and_catch && throw_and_catch();
}

static int call_from_new_thread(const char* path, int before) {
  pthread_t thread;
  int status = 0;
  sem_init(&memory_ran_out, 0, 0);
  if (before) pthread_create(&thread, NULL, call_without_memory, &status);
  if (!load(path)) return 3;
  train();
  if (!before) pthread_create(&thread, NULL, call_without_memory, &status);
  if (!take()) return 4;
  sem_post(&memory_ran_out);
  pthread_join(thread, NULL);
  return status;
}

static int end_on_new_thread(const char* path, int is_short) {
  pthread_t thread;
  int status = 5;
  sem_init(&has_called, 0, 0);
  pthread_create(&thread, NULL, end_without_memory, &status);
  if (!load(path)) return 3;
  train_until_failure(is_short);
  spare = mmap(NULL, spare_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (spare == MAP_FAILED) return 4;
  sem_post(&has_called);
  pthread_join(thread, NULL);
  return status;
}

static int call_behind(const char* path, const char* other) {
  pthread_t training, calling;
  int status = 0, status_of_caller = 0;
  if (!load_and_throw(other) || !load(path)) return 3;
  sem_init(&has_called, 0, 0);
  sem_init(&memory_ran_out, 0, 0);
  pthread_create(&calling, NULL, call_before_and_after_memory_runs_out, &status_of_caller);
  sem_wait(&has_called);
  pthread_create(&training, NULL, train_until_memory_runs_out, &status);
  pthread_join(training, NULL);
  sem_post(&memory_ran_out);
  pthread_join(calling, NULL);
  return status ? status : status_of_caller;
}

/* Loads another copy of the library, which the loader takes for a library of its own. */
static int load_copy(const char* path) {
  static char content[1 << 20];
  char copy_path[64];
  FILE* const library = fopen(path, "rb");
  const size_t bytes = library ? fread(content, 1, sizeof(content), library) : 0;
  const int copy = memfd_create("copy", 0);
  if (library) fclose(library);
  if (bytes == 0 || bytes == sizeof(content)) return 0;
  if (copy < 0 || write(copy, content, bytes) != (ssize_t)bytes) return 0;
  snprintf(copy_path, sizeof(copy_path), "/proc/self/fd/%d", copy);
  return load_library(copy_path) != NULL;
}

static const char* copied;

static int load_copies(void) {
  int copies = 0;
  while (copies < 40 && load_copy(copied)) ++copies;
  return copies == 40;
}

static int status_of_crowd = 3;

static void load_copies_and_call(void) {
  if (!load_copies()) return;
  make();
  status_of_crowd = take() && is_refused() ? 0 : 5;
}

static void* call_before_and_after_libraries_are_loaded(void* is_inside) {
  make();
  if (*(int*)is_inside)
    call_inside(load_copies_and_call);
  else
    load_copies_and_call();
  return NULL;
}

static int call_in_a_crowd(int is_inside) {
  pthread_t thread;
  train();
  pthread_create(&thread, NULL, call_before_and_after_libraries_are_loaded, &is_inside);
  pthread_join(thread, NULL);
  return status_of_crowd;
}

static int read_in_a_crowd(void) {
  read_batch();
  if (!load_copies()) return 3;
  return is_batch_refused() ? 0 : 5;
}

int main(int count, char** arguments) {
  if (count < 3) return 2;
  const char* const way = arguments[2];
  if (count == 4) {
    copied = arguments[3];
    if (strcmp(way, "behind") == 0) _Exit(call_behind(arguments[1], arguments[3]));
    if (!load(arguments[1])) _Exit(3);
    _Exit(strcmp(way, "reader") == 0 ? read_in_a_crowd()
                                     : call_in_a_crowd(strcmp(way, "inside") == 0));
  }
  if (strncmp(way, "ends", 4) == 0)
    _Exit(end_on_new_thread(arguments[1], strcmp(way, "ends_short") == 0));
  _Exit(call_from_new_thread(arguments[1], strcmp(way, "before") == 0));
}
