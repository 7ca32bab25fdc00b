"""Streams and descriptors that lie, are cut, or are damaged in one byte."""

import confined
import pytest
import wire
from hostile import ACCEPTED, descriptors, samples, streams

STREAM_VERDICTS = {"StreamError", "InvalidDescriptorError", ACCEPTED}
FEW_VALUES = [0x00, 0x01, 0x02, 0x40, 0x7F, 0x80, 0xF0, 0xFE, 0xFF]


def judge(inputs, kind, folder):
    contents = ["contents" in one.verdicts[0] for one in inputs]
    found = confined.verdicts_of(
        [(kind, one.data, deep) for one, deep in zip(inputs, contents, strict=True)], folder
    )
    return dict(zip((one.name for one in inputs), found, strict=True))


@pytest.fixture(scope="module")
def stream_verdicts(tmp_path_factory):
    return judge(streams.INPUTS, "stream", tmp_path_factory.mktemp("streams"))


@pytest.fixture(scope="module")
def descriptor_verdicts(tmp_path_factory):
    return judge(descriptors.INPUTS, "descriptor", tmp_path_factory.mktemp("descriptors"))


@pytest.fixture(scope="module")
def frame_verdicts(tmp_path_factory):
    return judge(descriptors.INPUTS, "stream", tmp_path_factory.mktemp("frames"))


@pytest.mark.parametrize("one", [one.param for one in streams.INPUTS])
def test_hand_made_streams_are_judged_right(stream_verdicts, one):
    assert stream_verdicts[one.name] in one.verdicts, one.attacks


@pytest.mark.parametrize("one", [one.param for one in descriptors.INPUTS])
def test_hand_made_descriptors_are_judged_right(descriptor_verdicts, one):
    assert descriptor_verdicts[one.name] in one.verdicts, one.attacks


@pytest.mark.parametrize(
    "one", [one.param for one in descriptors.INPUTS if ACCEPTED not in one.verdicts]
)
def test_hand_made_descriptors_are_no_frames_either(frame_verdicts, one):
    assert frame_verdicts[one.name] in ("InvalidDescriptorError", "StreamError"), one.attacks


def check_changes(data, values, folder):
    verdicts = confined.verdicts_of_changes("stream", data, values, folder)
    assert {verdict.removeprefix("cut: ") for verdict in verdicts} <= STREAM_VERDICTS, verdicts
    return verdicts


def test_every_prefix_and_every_changed_byte_is_accepted_or_refused(tmp_path):
    verdicts = check_changes(samples.small_stream(), range(256), tmp_path)
    # Nothing at all, and what ends between the two frames.
    assert verdicts["cut: accepted"] == 2
    assert verdicts[ACCEPTED] > 100
    assert verdicts["InvalidDescriptorError"] > 100


def test_every_changed_byte_of_a_stream_of_all_sections_is_accepted_or_refused(tmp_path):
    verdicts = check_changes(wire.stream(samples.full_item()), FEW_VALUES, tmp_path)
    assert verdicts["cut: accepted"] == 1


@pytest.mark.slow
def test_every_byte_of_all_sections_may_have_every_value(tmp_path):
    check_changes(wire.stream(samples.full_item()), range(256), tmp_path)
