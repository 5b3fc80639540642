/* This host loads a plug-in, whose thread finds no memory when it calls the plug-in for the first
   time. It ends with status 0 if the plug-in has said so.
   Usage: host PLUGIN before|after
     The thread starts before the plug-in is loaded, or after.
   Usage: host PLUGIN behind OTHER
     Another plug-in has been loaded, and has thrown. The host ends with status 0 if the first one
     trains a model behind it. */
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/engine/plugin/plugin.h"

static sem_t memory_ran_out;
static int (*is_refused)(void);

static void* call_plugin(void* was_refused) {
  sem_wait(&memory_ran_out);
  *(int*)was_refused = is_refused();
  return NULL;
}

/* The plug-in is never unloaded: the library has threads. */
static int load(const char* path, void (**train)(void), int (**take)(void)) {
  void* const plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!plugin) return 0;
  *(void**)train = dlsym(plugin, "train_a_model");
  *(void**)take = dlsym(plugin, "take_memory");
  *(void**)&is_refused = dlsym(plugin, "is_refused_for_want_of_memory");
  return *train && *take && is_refused;
}

static int train_behind(const char* path, const char* other) {
  void (*train)(void);
  int (*take)(void);
  int (*throw_and_catch)(void);
  void* const plugin = dlopen(other, RTLD_NOW | RTLD_LOCAL);
  *(void**)&throw_and_catch = plugin ? dlsym(plugin, "throw_and_catch") : NULL;
  if (!throw_and_catch || !throw_and_catch() || !load(path, &train, &take)) {
    fprintf(stderr, "%s\n", dlerror());
    return 3;
  }
  train();
  return 0;
}

int main(int count, char** arguments) {
  if (count == 4) return train_behind(arguments[1], arguments[3]);
  if (count != 3) return 2;
  const int before = strcmp(arguments[2], "before") == 0;
  pthread_t thread;
  int was_refused = 0;
  void (*train)(void);
  int (*take)(void);
  sem_init(&memory_ran_out, 0, 0);
  if (before) pthread_create(&thread, NULL, call_plugin, &was_refused);
  if (!load(arguments[1], &train, &take)) {
    fprintf(stderr, "%s\n", dlerror());
    return 3;
  }
  train();
  if (!before) pthread_create(&thread, NULL, call_plugin, &was_refused);
  if (!take()) return 4;
  sem_post(&memory_ran_out);
  pthread_join(thread, NULL);
  _Exit(was_refused ? 0 : 5);
}
