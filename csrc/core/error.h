// The one exception of the core, and the kinds of failure it tells apart.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace hurray {

// What went wrong. The binding gives each code its Python class, in errors.cc.
enum class ErrorCode : uint8_t {
  kInvalidDescriptor,  // a descriptor, or a value that would go into one
  kBuffer,             // size, alignment or kind of a buffer
  kCopyRequired,       // sharing was asked for and is impossible
  kUnsupported,        // valid, but outside what this version does
  kFile,               // the file container
  kStream,             // the framing of a stream
  kOutOfRange,         // an index past the end
  kInvalidValue,       // an argument whose value no rule of the format covers
  kOverflow,           // an integer that its field cannot hold
  kNotExportable,      // memory that another protocol cannot express
};

// A message with its control characters written as \x00 to \x1f and \x7f: it may quote a name
// from a hostile file, and what() ends at a zero.
std::string Printable(std::string_view message);

class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, std::string_view message)
      : std::runtime_error(Printable(message)), code_(code) {}
  ErrorCode code() const noexcept { return code_; }

 private:
  ErrorCode code_;
};

// A failed system call. `error_number` is the errno it left, `path` the file it was about
// (empty for a descriptor that has no name). Its code is kFile.
class SystemError : public Error {
 public:
  SystemError(int error_number, const std::string& message, std::string path)
      : Error(ErrorCode::kFile, message), error_number_(error_number), path_(std::move(path)) {}
  int error_number() const noexcept { return error_number_; }
  const std::string& path() const noexcept { return path_; }

 private:
  int error_number_;
  std::string path_;
};

// Throws Error(kInvalidDescriptor, message): the most common failure, kept out of line so that
// the checks around it stay small.
[[noreturn, gnu::cold]] void ThrowInvalidDescriptor(const std::string& message);

}  // namespace hurray
