/* This is a library with a variable of each thread, of which hosts load many copies. */
static __thread int calls;

int count_calls_of_this_thread(void) {
  return ++calls;
}
