#include "io/stream_writer.h"

#include "core/str_cat.h"
#include "io/composite_tree.h"
#include "io/encode.h"
#include "io/gather_writer.h"

namespace hurray {

namespace {

void CheckItem(const Item& item, bool cross_machine) {
  if (auto* tensor = std::get_if<TensorData>(&item)) {
    if (cross_machine) CheckCrossMachine(tensor->descriptor);
    CheckBuffers(*tensor);
    return;
  }
  for (const Item& member : std::get<CompositeData>(item).members) {
    CheckItem(member, cross_machine);
  }
}

void WriteTensor(const TensorDescriptor& descriptor, const TensorData& tensor, GatherWriter& out) {
  WriteDescriptor(descriptor, out);
  for (size_t i = 0; i < tensor.buffers.size(); ++i) {
    auto size = static_cast<size_t>(descriptor.buffers()[i].byte_size);
    out.Write(tensor.buffers[i].bytes().first(size));
  }
}

void WriteComposite(const CompositeData& composite, GatherWriter& out) {
  WriteDescriptor(composite.head, out);
  for (size_t i = 0; i < composite.members.size(); ++i) {
    const Item& member = composite.members[i];
    if (auto* nested = std::get_if<CompositeData>(&member)) {
      WriteComposite(*nested, out);
    } else {
      WriteTensor(MemberOf(composite, i), std::get<TensorData>(member), out);
    }
  }
}

}  // namespace

void StreamWriter::Write(const Item& item, Checkpoint& checkpoint) {
  auto* composite = std::get_if<CompositeData>(&item);
  if (composite != nullptr) CheckTree(*composite);  // first: it bounds the depth of what follows
  CheckItem(item, cross_machine_);
  GatherWriter out(*sink_, checkpoint);
  if (composite != nullptr) {
    WriteComposite(*composite, out);
  } else {
    WriteTensor(item.descriptor(), std::get<TensorData>(item), out);
  }
  out.Flush();
}

void CheckCrossMachine(const TensorDescriptor& descriptor) {
  SyncMode mode = descriptor.sync_mode();
  if (mode == SyncMode::kProducerSynced) return;
  throw Error(ErrorCode::kStream,
              StrCat("a buffer's sync mode is ", SyncModeName(mode),
                     ", a stream between machines carries only producer_synced ones"));
}

}  // namespace hurray
