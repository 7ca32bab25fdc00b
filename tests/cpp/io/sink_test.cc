#include "io/sink.h"

#include <fcntl.h>
#include <signal.h>

#include <cerrno>
#include <thread>

#include "io/gather_writer.h"
#include "io/io_testing.h"

namespace hurray {
namespace {

std::vector<iovec> PiecesOf(const std::vector<std::vector<uint8_t>>& parts) {
  std::vector<iovec> pieces;
  for (const auto& part : parts) {
    pieces.push_back({const_cast<uint8_t*>(part.data()), part.size()});
  }
  return pieces;
}

std::vector<uint8_t> Joined(const std::vector<std::vector<uint8_t>>& parts) {
  std::vector<uint8_t> all;
  for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

// More pieces than one call takes, some of them empty, one larger than a pipe.
std::vector<std::vector<uint8_t>> ManyParts() {
  std::vector<std::vector<uint8_t>> parts;
  for (size_t i = 0; i < 3000; ++i) parts.push_back(Pattern(i % 7, i));
  parts.push_back(Pattern(300000));
  parts.push_back({});
  return parts;
}

TEST(MemorySink, KeepsEveryPieceInOrder) {
  auto parts = ManyParts();
  MemorySink sink;
  Checkpoint checkpoint;
  sink.Write(PiecesOf(parts), checkpoint);
  EXPECT_EQ(ToVector(sink.bytes()), Joined(parts));
  EXPECT_EQ(checkpoint.bytes_done(), Joined(parts).size());
}

TEST(DescriptorSink, WritesThroughAPipeThatIsReadSlowly) {
  auto parts = ManyParts();
  Pipe pipe;
  std::vector<uint8_t> got;
  std::thread reader([&] {
    Checkpoint checkpoint;
    std::vector<uint8_t> some(1777);
    while (size_t count = pipe.reading.ReadSome(some, checkpoint)) {
      got.insert(got.end(), some.begin(), some.begin() + static_cast<ptrdiff_t>(count));
    }
  });
  {
    DescriptorSink sink(std::move(pipe.writing));
    Checkpoint checkpoint;
    sink.Write(PiecesOf(parts), checkpoint);
  }
  reader.join();
  EXPECT_EQ(got, Joined(parts));
}

TEST(DescriptorSink, WaitsForADescriptorThatDoesNotBlock) {
  auto bytes = Pattern(500000);
  Pipe pipe;
  ASSERT_EQ(::fcntl(pipe.writing.get(), F_SETFL, O_NONBLOCK), 0);
  ASSERT_EQ(::fcntl(pipe.reading.get(), F_SETFL, O_NONBLOCK), 0);
  std::vector<uint8_t> got(bytes.size());
  std::thread reader([&] {
    Checkpoint checkpoint;
    DescriptorStream stream(std::move(pipe.reading));
    EXPECT_EQ(stream.Read(got, checkpoint), got.size());
  });
  DescriptorSink sink(std::move(pipe.writing));
  Checkpoint checkpoint;
  sink.Write(PiecesOf({bytes}), checkpoint);
  reader.join();
  EXPECT_EQ(got, bytes);
}

TEST(DescriptorSink, ReportsAFullDisk) {
  Checkpoint checkpoint;
  DescriptorSink sink(FileDescriptor::Open("/dev/full", O_WRONLY, 0, checkpoint));
  try {
    sink.Write(PiecesOf({Pattern(10)}), checkpoint);
    FAIL();
  } catch (const SystemError& error) {
    EXPECT_EQ(error.error_number(), ENOSPC);
    EXPECT_EQ(error.path(), "/dev/full");
  }
}

TEST(DescriptorSink, ReportsAPipeThatNobodyReads) {
  ::signal(SIGPIPE, SIG_IGN);
  Pipe pipe;
  pipe.reading.Close();
  DescriptorSink sink(std::move(pipe.writing));
  Checkpoint checkpoint;
  EXPECT_THAT([&] { sink.Write(PiecesOf({Pattern(10)}), checkpoint); },
              ThrowsCode(ErrorCode::kFile, "write"));
}

TEST(DescriptorSink, ClaimsRoomWithoutChangingTheSize) {
  TemporaryFolder folder;
  Checkpoint checkpoint;
  DescriptorSink sink(FileDescriptor::Open(folder / "file", O_WRONLY | O_CREAT, 0666, checkpoint));
  sink.Reserve(4 << 20, checkpoint);
  EXPECT_EQ(std::filesystem::file_size(folder / "file"), 0u);
  sink.Write(PiecesOf({Pattern(10)}), checkpoint);
  EXPECT_EQ(ReadWholeFile(folder / "file"), Pattern(10));
}

void Ignore(int) {}

TEST(DescriptorSink, LetsASignalEndTheWaiting) {
  struct sigaction action = {};
  action.sa_handler = Ignore;  // without SA_RESTART, as Python's
  ASSERT_EQ(::sigaction(SIGUSR1, &action, nullptr), 0);
  Pipe pipe;
  pthread_t writer = ::pthread_self();
  std::atomic<bool> done = false;
  std::thread signaller([&] {
    while (!done) {
      ::pthread_kill(writer, SIGUSR1);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  struct Stop {};
  Checkpoint checkpoint([](const Checkpoint& work) {
    if (work.is_interrupted()) throw Stop();
  });
  EXPECT_THROW(pipe.writing.WriteAll(PiecesOf({Pattern(1000000)}), checkpoint), Stop);
  done = true;
  signaller.join();
}

// ---- GatherWriter

TEST(GatherWriter, KeepsTheOrderOfLargeAndSmallPieces) {
  MemorySink sink;
  Checkpoint checkpoint;
  GatherWriter out(sink, checkpoint);
  std::vector<std::vector<uint8_t>> parts;
  std::vector<uint8_t> wanted;
  for (size_t i = 0; i < 3000; ++i) parts.push_back(Pattern(i % 11 == 0 ? 600 + i : i % 97, i));
  for (size_t i = 0; i < parts.size(); ++i) {
    out.Write(parts[i]);
    wanted.insert(wanted.end(), parts[i].begin(), parts[i].end());
    if (i % 5 == 0) {
      auto room = out.Scratch(i % 50);
      std::fill(room.begin(), room.end(), static_cast<uint8_t>(i));
      wanted.insert(wanted.end(), i % 50, static_cast<uint8_t>(i));
    }
    if (i % 100 == 0) {
      out.WriteZeros(3 * i);
      wanted.insert(wanted.end(), 3 * i, 0);
    }
    ASSERT_EQ(out.position(), wanted.size());
  }
  out.Flush();
  EXPECT_EQ(ToVector(sink.bytes()), wanted);
}

TEST(GatherWriter, ReportsEveryFewMegabytes) {
  MemorySink sink;
  int reports = 0;
  Checkpoint checkpoint([&](const Checkpoint&) { ++reports; });
  GatherWriter out(sink, checkpoint);
  std::vector<uint8_t> bytes(3 * Checkpoint::kInterval);
  out.Write(bytes);
  out.Flush();
  EXPECT_EQ(reports, 3);
  EXPECT_EQ(sink.bytes().size(), 3 * Checkpoint::kInterval);
}

}  // namespace
}  // namespace hurray
