#include "python/device.h"

#include <functional>

#include "core/element_type.h"
#include "python/arguments.h"
#include "python/errors.h"
#include "python/pickling.h"
#include "python/value_type.h"

namespace hurray {

namespace {

constexpr char kDoc[] = R"(Device(kind, device_id=0, memory_class='standard')
--

Where a tensor's bytes are: a kind of device, which one of that kind, and a class of memory.

Parameters
----------
kind : str or int
    ``"cpu"``, ``"cuda"``, ``"rocm"``, ``"metal"``, ``"vulkan"``, ``"webgpu"``, ``"hexagon"``,
    ``"level_zero"``, ``"opencl"``, or the byte of the format; private kinds (0xF0 to 0xFE) by
    byte only.
device_id : int, optional
    Ordinal of the device in this process. It is not stored in files and streams.
memory_class : str or int, optional
    ``"standard"``, ``"host_pinned"``, ``"unified"``, ``"peer"``, or the byte.

Raises
------
InvalidDescriptorError
    For an unknown kind or class, or a negative `device_id`.
OverflowError
    If `device_id` is no 32-bit integer.

Notes
-----
Format: section 4, "Buffer handle". Which classes a kind allows is checked by what uses the device.

Examples
--------
>>> hurray.Device("cuda", 1)
hurray.Device(kind='cuda', device_id=1, memory_class='standard')
>>> hurray.Device("cpu") == hurray.device.cpu
True
)";

struct PlacedDevice {
  Device device;
  int32_t id = 0;
  friend bool operator==(PlacedDevice, PlacedDevice) noexcept = default;
};

const PlacedDevice& Of(PyObject* self) { return ValueOf<PlacedDevice>(self); }

// ---- lifetime

// A tag from its name or its byte.
uint8_t ToTag(PyObject* object, std::string_view field,
              std::optional<uint8_t> (*tag_of)(std::string_view) noexcept,
              std::optional<std::string_view> (*name_of)(uint32_t) noexcept,
              std::string (*known)()) {
  if (PyUnicode_Check(object)) {
    std::string_view name = ToText(object, field);
    if (auto tag = tag_of(name)) return *tag;
    ThrowInvalidDescriptor(StrCat(field, " is ", ReprText(object), ", it must be one of ", known(),
                                  ", or the byte of the format as an int"));
  }
  if (PyIndex_Check(object) == 0) {
    ThrowInvalidDescriptor(StrCat(field, " must be a str or an int, not ", TypeName(object)));
  }
  Ref index = Ref::Steal(PyNumber_Index(object));
  int overflow = 0;
  long value = PyLong_AsLongAndOverflow(index.get(), &overflow);
  if (overflow != 0 || value < 0 || value > 0xFF || !name_of(static_cast<uint32_t>(value))) {
    ThrowInvalidDescriptor(StrCat(field, " is ",
                                  overflow != 0 || value < 0 || value > 0xFF
                                      ? std::string("outside 0 to 255")
                                      : HexByte(static_cast<unsigned>(value)),
                                  ", which the format does not define; known are ", known(),
                                  " and the private bytes 0xF0 to 0xFE"));
  }
  return static_cast<uint8_t>(value);
}

constexpr Signature kNew("Device", {"kind", "device_id", "memory_class"}, 1);

PyObject* Device_vectorcall(PyObject* callable, PyObject* const* args, size_t nargsf,
                            PyObject* kwnames) {
  auto* type = AsType(callable);
  return Guard(type, [&] {
    auto [kind, id, memory_class] = kNew.Bind(args, nargsf, kwnames);
    PlacedDevice placed;
    placed.device.tag = ToTag(kind, "kind", DeviceKindTag, DeviceKindName, KnownDeviceKinds);
    if (id != nullptr && id != Py_None) placed.id = ToInteger<int32_t>(id, "device_id");
    if (placed.id < 0) {
      ThrowInvalidDescriptor(StrCat("device_id is ", placed.id, ", it must not be negative"));
    }
    if (memory_class != nullptr && memory_class != Py_None) {
      placed.device.memory_class =
          ToTag(memory_class, "memory_class", MemoryClassTag, MemoryClassName, KnownMemoryClasses);
    }
    return NewValue(type, placed).release();
  });
}

// ---- properties

PyObject* Device_kind(PyObject* self, void*) {
  return Guard(Py_TYPE(self),
               [&] { return ToPython(*DeviceKindName(Of(self).device.tag)).release(); });
}
PyObject* Device_device_id(PyObject* self, void*) { return PyLong_FromLong(Of(self).id); }
PyObject* Device_memory_class(PyObject* self, void*) {
  return Guard(Py_TYPE(self),
               [&] { return ToPython(*MemoryClassName(Of(self).device.memory_class)).release(); });
}
PyObject* Device_tag(PyObject* self, void*) { return PyLong_FromLong(Of(self).device.tag); }
PyObject* Device_memory_class_tag(PyObject* self, void*) {
  return PyLong_FromLong(Of(self).device.memory_class);
}
PyObject* Device_is_private(PyObject* self, void*) {
  return PyBool_FromLong(Of(self).device.is_private());
}

PyGetSetDef kProperties[] = {
    {"kind", Device_kind, nullptr, "str: kind of device, ``'private'`` for private ones.", nullptr},
    {"device_id", Device_device_id, nullptr, "int: ordinal among the devices of its kind.",
     nullptr},
    {"memory_class", Device_memory_class, nullptr, "str: class of memory.", nullptr},
    {"tag", Device_tag, nullptr, "int: the kind's byte in a descriptor.", nullptr},
    {"memory_class_tag", Device_memory_class_tag, nullptr,
     "int: the memory class's byte in a descriptor.", nullptr},
    {"is_private", Device_is_private, nullptr, "bool: the kind is a private one.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

// ---- methods

std::string NameText(std::string_view name, uint8_t tag) {
  return IsPrivateTag(tag) ? StrCat("'", name, "' (", HexByte(tag), ")") : StrCat("'", name, "'");
}

PyObject* Device_repr(PyObject* self) {
  return Guard(Py_TYPE(self), [&] {
    const PlacedDevice& placed = Of(self);
    const Device& device = placed.device;
    return ToPython(StrCat("hurray.Device(kind=", NameText(*DeviceKindName(device.tag), device.tag),
                           ", device_id=", placed.id, ", memory_class=",
                           NameText(*MemoryClassName(device.memory_class), device.memory_class),
                           ")"))
        .release();
  });
}

Py_hash_t Device_hash(PyObject* self) {
  const PlacedDevice& placed = Of(self);
  return static_cast<Py_hash_t>(placed.id) * 65536 + placed.device.tag * 256 +
         placed.device.memory_class;
}

PyMethodDef kMethods[] = {
    {"__reduce__", Method(Device_reduce), METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

// ---- type

PyType_Slot kSlots[] = {
    {Py_tp_doc, const_cast<char*>(kDoc)},
    {Py_tp_new, Slot(NewByVectorcall)},
    {Py_tp_traverse, Slot(Value_traverse<PlacedDevice>)},
    {Py_tp_dealloc, Slot(Value_dealloc<PlacedDevice>)},
    {Py_tp_members, WeakrefMember<PlacedDevice>()},
    {Py_tp_getset, kProperties},
    {Py_tp_methods, kMethods},
    {Py_tp_repr, Slot(Device_repr)},
    {Py_tp_richcompare, Slot(Value_richcompare<PlacedDevice>)},
    {Py_tp_hash, Slot(Device_hash)},
    {0, nullptr},
};

PyType_Spec kSpec = {
    .name = "hurray.Device",
    .basicsize = sizeof(ValueObject<PlacedDevice>),
    .itemsize = 0,
    .flags = kFinalType,
    .slots = kSlots,
};

}  // namespace

Ref DeviceToPython(ModuleState& state, Device device) {
  if (device == Device{}) return Ref::Borrow(state.cpu_device);
  return NewValue(AsType(state.device_type), PlacedDevice{device, 0});
}

Device DeviceOf(PyObject* object) noexcept { return Of(object).device; }
int32_t DeviceIdOf(PyObject* object) noexcept { return Of(object).id; }

std::string NotADeviceMessage(PyObject* object, std::string_view name) {
  std::string hint;
  if (PyUnicode_Check(object)) {
    const char* utf8 = PyUnicode_AsUTF8(object);
    if (utf8 == nullptr) {
      PyErr_Clear();
    } else if (DeviceKindTag(utf8)) {
      hint = StrCat("; use hurray.device.", std::string_view(utf8));
    }
  }
  return StrCat(name, " must be a hurray.Device, not ", TypeName(object), hint);
}

Ref ToDeviceObject(const ModuleState& state, PyObject* object, std::string_view name) {
  if (object == nullptr || object == Py_None) return Ref::Borrow(state.cpu_device);
  if (!IsDevice(state, object)) ThrowTypeError(NotADeviceMessage(object, name));
  return Ref::Borrow(object);
}

void CheckHostDevice(const ModuleState& state, PyObject* object, std::string_view name) {
  if (object == nullptr || object == Py_None) return;
  if (!IsDevice(state, object)) ThrowInvalidDescriptor(NotADeviceMessage(object, name));
  if (!DeviceOf(object).is_cpu()) {
    throw Error(ErrorCode::kUnsupported,
                StrCat(name, " is of kind ", *DeviceKindName(DeviceOf(object).tag),
                       ", only cpu is supported here"));
  }
}

int AddDevice(PyObject* module, ModuleState& state) {
  state.device_type = PyType_FromModuleAndSpec(module, &kSpec, nullptr);
  if (state.device_type == nullptr) return -1;
  auto* type = AsType(state.device_type);
  type->tp_vectorcall = Device_vectorcall;  // no slot for it before CPython 3.14
  return Guard(module, [&] {
    state.cpu_device = NewValue(type, PlacedDevice{}).release();
    // What hurray.device is filled from: one per kind, with the kind's name.
    Ref constants = Ref::Steal(PyDict_New());
    for (uint8_t tag = 0; DeviceKindName(tag) && !IsPrivateTag(tag); ++tag) {
      Ref constant = DeviceToPython(state, Device{tag, kStandardMemory});
      Ref name = ToPython(*DeviceKindName(tag));
      Checked(PyDict_SetItem(constants.get(), name.get(), constant.get()));
    }
    Checked(PyModule_AddObjectRef(module, "_devices", constants.get()));
    return PyModule_AddType(module, type);
  });
}

}  // namespace hurray
