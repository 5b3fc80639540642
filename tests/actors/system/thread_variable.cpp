// This is a library with a variable of each thread, of which a test loads many copies.
extern "C" int count_calls_of_this_thread() {
  static thread_local int calls = 0;
  return ++calls;
}
