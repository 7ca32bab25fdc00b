#include "io/checkpoint.h"

#include <vector>

#include "testing.h"

namespace hurray {
namespace {

TEST(Checkpoint, ReportsOncePerInterval) {
  std::vector<uint64_t> reports;
  Checkpoint checkpoint([&](const Checkpoint& work) { reports.push_back(work.bytes_done()); });
  checkpoint.SetTotal(5 * Checkpoint::kInterval);
  checkpoint.Advance(Checkpoint::kInterval - 1);
  EXPECT_TRUE(reports.empty());
  checkpoint.Advance(1);
  checkpoint.Advance(2 * Checkpoint::kInterval);
  checkpoint.Finish();
  EXPECT_EQ(reports, (std::vector{Checkpoint::kInterval, 3 * Checkpoint::kInterval,
                                  5 * Checkpoint::kInterval}));
}

TEST(Checkpoint, TellsSignalsFromProgress) {
  std::vector<bool> interrupted;
  Checkpoint checkpoint(
      [&](const Checkpoint& work) { interrupted.push_back(work.is_interrupted()); });
  checkpoint.Interrupt();
  checkpoint.Finish();
  EXPECT_EQ(interrupted, (std::vector{true, false}));
}

TEST(Checkpoint, NeverTellsMoreThanTheTotal) {
  Checkpoint checkpoint;
  checkpoint.SetTotal(10);
  checkpoint.Advance(15);
  EXPECT_EQ(checkpoint.bytes_done(), 10u);
}

}  // namespace
}  // namespace hurray
