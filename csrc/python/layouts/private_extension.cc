#include "python/layouts/layout_class.h"

namespace hurray {

namespace {

struct PrivateExtensionClass : LayoutClass<PrivateExtensionLayout> {
  static constexpr char kName[] = "hurray.PrivateExtensionLayout";
  static constexpr char kDoc[] =
      R"(PrivateExtensionLayout(tag, extension_layout_id, extension_data=None)
--

A layout that one producer and one consumer agreed on. Any rank.

How many buffers it needs and how large they are, nobody else can tell: neither is checked.

Parameters
----------
tag : int
    0xF0 to 0xFE.
extension_layout_id : int
    Tells private layouts of one tag apart; 64 bits.
extension_data : bytes-like, optional
    Its parameters, which are carried on unread.

Raises
------
InvalidDescriptorError
    If `tag` is another byte.
OverflowError
    If `tag` is no byte, or `extension_layout_id` is negative or needs more than 64 bits.

Notes
-----
Format: section 5.10, "Private layout".

Examples
--------
>>> layout = hurray.PrivateExtensionLayout(0xF0, extension_layout_id=7, extension_data=b"\x01")
>>> layout.extension_data, layout.name
(b'\x01', 'extension')
>>> print(layout.buffer_count)
None
)";
  static constexpr std::array<Parameter<Kind>, 3> kParameters{{
      {"tag", kField<&Kind::tag_byte>, "int: the byte that stands for it in a descriptor."},
      {"extension_layout_id", kField<&Kind::extension_layout_id>,
       "int: tells private layouts of one tag apart."},
      {"extension_data",
       [](const ModuleState&, const Kind& kind) { return BytesToPython(kind.extension_data); },
       "bytes: its parameters."},
  }};
  static constexpr auto kNew =
      Signature("PrivateExtensionLayout", {"tag", "extension_layout_id", "extension_data"}, 2);
  static Kind Make(const ModuleState&, const std::array<PyObject*, 3>& arguments) {
    auto [tag, id, data] = arguments;
    Kind kind{
        {}, ToInteger<uint8_t>(tag, "tag"), ToInteger<uint64_t>(id, "extension_layout_id"), {}};
    if (NoneToNull(data) != nullptr) kind.extension_data = ToBytes(data, "extension_data");
    if (!IsPrivateTag(kind.tag_byte)) {
      ThrowInvalidDescriptor(
          StrCat("tag is ", HexByte(kind.tag_byte), ", a private layout needs 0xF0 to 0xFE"));
    }
    return kind;
  }
  static std::string Text(const ModuleState&, const Kind& kind) {
    return CallText("PrivateExtensionLayout")
        .Add("tag", HexByte(kind.tag_byte))
        .Add("extension_layout_id", StrCat(kind.extension_layout_id))
        .Add("extension_data", StrCat(kind.extension_data.size(), " bytes"))
        .Done();
  }
};

}  // namespace

Ref AddLayoutClass(std::type_identity<PrivateExtensionLayout>, PyObject* module, PyObject* base) {
  return AddClass<PrivateExtensionClass>(module, base, {});
}

}  // namespace hurray
