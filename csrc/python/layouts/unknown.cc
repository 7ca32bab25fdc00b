#include "python/layouts/layout_class.h"

namespace hurray {

namespace {

// The class of the layout with this named tag.
template <typename... L>
const char* ClassOfTag(const ModuleState& state, uint8_t tag,
                       std::type_identity<std::variant<L...>>) {
  const char* name = "";
  auto look = [&]<typename Kind>(std::type_identity<Kind>) {
    if constexpr (requires { Kind::kTag; }) {
      if (Kind::kTag == tag) name = AsType(state.layout_types[kAlternative<Kind, Layout>])->tp_name;
    }
  };
  (look(std::type_identity<L>()), ...);
  return name;
}

void CheckUnknown(const ModuleState& state, uint8_t tag) {
  if (IsPrivateTag(tag)) {
    ThrowValueError(
        StrCat("tag ", HexByte(tag), " is private, its class is hurray.PrivateExtensionLayout"));
  }
  if (NamedLayoutName(tag)) {
    ThrowValueError(StrCat("tag ", HexByte(tag), " is known, its class is ",
                           ClassOfTag(state, tag, std::type_identity<Layout>())));
  }
  if (LayoutTagKind(tag) == "invalid") {
    ThrowInvalidDescriptor(StrCat("tag is ", HexByte(tag), ", which is never valid"));
  }
}

struct UnknownClass : LayoutClass<UnknownLayout> {
  static constexpr char kName[] = "hurray.UnknownLayout";
  static constexpr char kDoc[] = R"(UnknownLayout(tag, raw_bytes=None)
--

A layout that a later version of the format may define. Rank 1 and above.

A reader with ``permissive=True`` returns it, and it is written back unchanged. How many buffers it
needs and how large they are, nobody can tell: neither is checked.

Parameters
----------
tag : int
    A reserved tag, as `hurray.layout_tag_kind` tells.
raw_bytes : bytes-like, optional
    The layout's payload in the descriptor.

Raises
------
ValueError
    If the tag has a class of its own, which the message names.
InvalidDescriptorError
    If the tag is 0x00 or 0xFF.
OverflowError
    If the tag is no byte.

Notes
-----
Format: section 12.1, "What this project's readers do".

Examples
--------
>>> layout = hurray.UnknownLayout(0x0C, b"\x00\x01")
>>> layout.tag, layout.raw_bytes, layout.name
(12, b'\x00\x01', 'extension')
)";
  static constexpr std::array<Parameter<Kind>, 2> kParameters{{
      {"tag", kField<&Kind::tag_byte>, "int: the byte that stands for it in a descriptor."},
      {"raw_bytes",
       [](const ModuleState&, const Kind& kind) { return BytesToPython(kind.raw_bytes); },
       "bytes: the layout's payload."},
  }};
  static constexpr auto kNew = Signature("UnknownLayout", {"tag", "raw_bytes"}, 1);
  static Kind Make(const ModuleState& state, const std::array<PyObject*, 2>& arguments) {
    auto [tag, raw_bytes] = arguments;
    Kind kind{{}, ToInteger<uint8_t>(tag, "tag"), {}};
    if (NoneToNull(raw_bytes) != nullptr) kind.raw_bytes = ToBytes(raw_bytes, "raw_bytes");
    CheckUnknown(state, kind.tag_byte);
    return kind;
  }
  static std::string Text(const ModuleState&, const Kind& kind) {
    return CallText("UnknownLayout")
        .Add("tag", HexByte(kind.tag_byte))
        .Add("raw_bytes", StrCat(kind.raw_bytes.size(), " bytes"))
        .Done();
  }
};

}  // namespace

Ref AddLayoutClass(std::type_identity<UnknownLayout>, PyObject* module, PyObject* base) {
  return AddClass<UnknownClass>(module, base, {});
}

}  // namespace hurray
