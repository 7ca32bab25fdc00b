#include "core/byte_reader.h"

#include "core/str_cat.h"

namespace hurray {

void ByteReader::ReadReserved(size_t count, std::string_view field) {
  size_t start = position_;
  for (uint8_t byte : ReadBytes(count, field)) {
    if (byte != 0) {
      throw Error(code_, StrCat(field, " at byte ", start, " holds ", HexByte(byte),
                                ", reserved bytes must be 0"));
    }
  }
}

void ByteReader::ThrowShort(uint64_t wanted, std::string_view field) const {
  throw Error(code_, StrCat("truncated: ", field, " needs ", wanted, " bytes at byte ", position_,
                            ", ", remaining(), " are left"));
}

}  // namespace hurray
