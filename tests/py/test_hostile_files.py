"""Files that lie, are cut, or are damaged in one byte: refused in little memory and time."""

import confined
import pytest
import wire
from hostile import ACCEPTED, files, samples

FILE_VERDICTS = {"FileError", "InvalidDescriptorError", ACCEPTED}
FEW_VALUES = [0x00, 0x01, 0x40, 0x7F, 0x80, 0xFF]


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory):
    inputs = [("file", one.data) for one in files.INPUTS]
    found = confined.verdicts_of(inputs, tmp_path_factory.mktemp("inputs"))
    return dict(zip((one.name for one in files.INPUTS), found, strict=True))


@pytest.mark.parametrize("one", [one.param for one in files.INPUTS])
def test_hand_made_files_are_judged_right(verdicts, one):
    assert verdicts[one.name] in one.verdicts, one.attacks


def check_changes(data, values, folder):
    verdicts = confined.verdicts_of_changes("file", data, values, folder)
    assert {verdict.removeprefix("cut: ") for verdict in verdicts} <= FILE_VERDICTS, verdicts
    # Every file ends with its trailer, so none is whole when it is cut.
    assert [verdict for verdict in verdicts if verdict.startswith("cut: ")] == ["cut: FileError"]
    return verdicts


# Behind a checksum, the fields of the index are never looked at.
either_way = pytest.mark.parametrize("checksum", [True, False], ids=["checksum", "no-checksum"])


@either_way
def test_every_prefix_and_every_changed_byte_is_accepted_or_refused(tmp_path, checksum):
    verdicts = check_changes(samples.small_file(checksum=checksum), FEW_VALUES, tmp_path)
    assert verdicts["FileError"] > 100
    assert verdicts["InvalidDescriptorError"] > 100
    assert verdicts[ACCEPTED] > 100


@pytest.mark.slow
@either_way
def test_every_byte_may_have_every_value(tmp_path, checksum):
    check_changes(samples.small_file(checksum=checksum), range(256), tmp_path)


@pytest.mark.slow
def test_every_changed_byte_of_a_file_of_all_sections_is_accepted_or_refused(tmp_path):
    check_changes(wire.container({"c": samples.full_item()}), FEW_VALUES, tmp_path)
