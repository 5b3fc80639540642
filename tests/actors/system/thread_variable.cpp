// This is a library with a thread-local variable. A test loads many copies of the library.
extern "C" int count_calls_of_this_thread() {
  static thread_local int calls = 0;
  return ++calls;
}
