#include "io/replacing_file.h"

#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>

#include "core/str_cat.h"

namespace hurray {

namespace {

// "." for a path without a folder.
std::string FolderOf(const std::string& path) {
  size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// The path behind symbolic links in its last component, which need not lead anywhere.
std::string ResolveLinks(std::string path) {
  constexpr int kMostLinks = 40;
  for (int i = 0; i < kMostLinks; ++i) {
    char target[PATH_MAX];
    ssize_t length = ::readlink(path.c_str(), target, sizeof(target));
    if (length < 0) return path;  // no link, or nothing there
    std::string next(target, static_cast<size_t>(length));
    path = next.starts_with('/') ? next : StrCat(FolderOf(path), "/", next);
  }
  errno = ELOOP;
  ThrowSystemError("open", path);
}

std::string TemporaryName(const std::string& folder) {
  uint64_t random = 0;
  while (::getrandom(&random, sizeof(random), 0) < 0) {
    if (errno != EINTR) ThrowSystemError("create a file in", folder);
  }
  char name[40];
  std::snprintf(name, sizeof(name), "/.hurray-%016llx.tmp",
                static_cast<unsigned long long>(random));
  return folder + name;
}

}  // namespace

ReplacingFile::ReplacingFile(const std::string& path, Checkpoint& checkpoint) : target_(path) {
  struct stat old;
  if (::stat(path.c_str(), &old) != 0) {
    if (errno != ENOENT || path.empty()) ThrowSystemError("open", path);
    target_ = ResolveLinks(path);
    CreateBeside(nullptr, checkpoint);
  } else if (S_ISREG(old.st_mode)) {
    // Renaming would need no such permission, but who takes it away means to keep the file.
    if (::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) != 0) ThrowSystemError("write", path);
    target_ = ResolveLinks(path);
    CreateBeside(&old, checkpoint);
  } else {
    sink_ = std::make_unique<DescriptorSink>(
        FileDescriptor::Open(path, O_WRONLY | O_TRUNC, 0, checkpoint));
  }
}

ReplacingFile::Temporary::~Temporary() {
  if (!path.empty()) ::unlink(path.c_str());
}

void ReplacingFile::CreateBeside(const struct stat* old, Checkpoint& checkpoint) {
  std::string path = TemporaryName(FolderOf(target_));
  // Nobody else may read what nobody else may read in the end.
  mode_t mode = old == nullptr ? 0666 : 0600;
  FileDescriptor file =
      FileDescriptor::Open(path, O_WRONLY | O_CREAT | O_EXCL, mode, checkpoint, target_);
  temporary_.path = std::move(path);
  if (old != nullptr) {
    struct stat now = file.Status();
    // The owner first: changing it may clear bits of the mode. Who may not change it becomes it.
    if (now.st_uid != old->st_uid || now.st_gid != old->st_gid) {
      static_cast<void>(::fchown(file.get(), old->st_uid, old->st_gid) == 0);
    }
    if (::fchmod(file.get(), old->st_mode & 07777u) != 0) ThrowSystemError("write", target_);
  }
  sink_ = std::make_unique<DescriptorSink>(std::move(file));
}

void ReplacingFile::Reserve(uint64_t bytes, Checkpoint& checkpoint) {
  sink_->Reserve(bytes, checkpoint);
}

void ReplacingFile::Write(std::span<const iovec> pieces, Checkpoint& checkpoint) {
  sink_->Write(pieces, checkpoint);
}

void ReplacingFile::Commit(bool durable) {
  FileDescriptor& file = sink_->file();
  if (temporary_.path.empty()) {
    // A pipe or terminal cannot be synced, and has nothing to sync.
    if (durable && ::fsync(file.get()) != 0 && errno != EINVAL && errno != EROFS) {
      ThrowSystemError("sync", target_);
    }
    file.Close();
    return;
  }
  if (durable) file.Sync();
  file.Close();
  if (::rename(temporary_.path.c_str(), target_.c_str()) != 0) ThrowSystemError("replace", target_);
  temporary_.path.clear();
  if (durable) {
    Checkpoint never;
    FileDescriptor::Open(FolderOf(target_), O_RDONLY | O_DIRECTORY, 0, never).Sync();
  }
}

}  // namespace hurray
