// Nearly all tests include this header, which is compiled once for each test program. A test still
// includes every header that it uses, because sanitizer builds do not use this one.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>
