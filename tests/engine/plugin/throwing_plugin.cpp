// This is another plug-in of the same host. It brings the C++ library along and throws.
extern "C" int throw_and_catch() {
  try {
    throw 1;
  } catch (int) {
    return 1;
  }
}
