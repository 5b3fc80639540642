// A FuzzedReader is a reader of bytes from outside that two programs fuzz: own_fuzzer.cpp by
// mutations of its own, and libfuzzer.cpp by those of LLVM's libFuzzer.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace penstock::testing {

struct FuzzedReader {
  std::string name;
  std::vector<std::string> seeds = {};  ///< These are inputs that the reader accepts.
  /// These are parts of inputs that mean something to the reader.
  std::vector<std::string> words = {};
  /// Reads an input. @throws penstock::Error if the input is refused.
  std::function<void(const std::string&)> read = {};
  std::vector<std::string> hostile = {};  ///< These are inputs that the reader refuses.
};

/// Returns the readers of a program, each of whose sources defines this function once.
std::vector<FuzzedReader> fuzzed_readers();

/// A Reading is what a reader has made of an input.
struct Reading {
  bool accepted = false;
  /// `defect` says what is wrong, or is empty if the input was accepted, or refused by an error of
  /// one short line whose cause lies in the input.
  std::string defect = {};
};

/// Lets the reader read an input.
Reading reading_of(const FuzzedReader& reader, const std::string& input);

}  // namespace penstock::testing
