"""A selection of the conformance corpus: what the reference wrote, and what breaks a rule."""

import json
from pathlib import Path

import confined
import conformance_check
import pytest
from hostile import ACCEPTED

CORPUS = Path(__file__).parents[1] / "data" / "corpus"
ARTEFACTS = list(conformance_check.artefacts(CORPUS))
REJECTS = json.loads((CORPUS / "reject" / "expect.json").read_text())


def test_the_selection_has_a_size():
    size = sum(path.stat().st_size for path in CORPUS.rglob("*") if path.is_file())
    assert size < 2_000_000
    assert len(ARTEFACTS) > 200
    assert len(REJECTS) > 200


@pytest.mark.parametrize("artefact", [pytest.param(a, id=a.path.stem) for a in ARTEFACTS])
def test_artefacts_are_what_their_sidecars_say(artefact, tmp_path):
    conformance_check.check(artefact, tmp_path)


@pytest.mark.parametrize(
    "artefact",
    [pytest.param(a, id=a.path.stem) for a in ARTEFACTS if a.side["kind"] == "descriptor"],
)
def test_the_model_writes_what_the_reference_writes(artefact):
    want = artefact.side["items"][0]["descriptor"]
    if "version" in want:
        pytest.skip("the tail of a newer version is not in the sidecar")
    assert conformance_check.model_descriptor(want).encode() == artefact.data


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory):
    inputs = [(e["kind"], (CORPUS / e["file"]).read_bytes(), e["level"] == "D") for e in REJECTS]
    found = confined.verdicts_of(inputs, tmp_path_factory.mktemp("inputs"))
    return dict(zip((entry["name"] for entry in REJECTS), found, strict=True))


@pytest.mark.parametrize(
    "entry",
    [pytest.param(entry, id=entry["name"]) for entry in REJECTS],
)
def test_inputs_that_break_a_rule_are_refused(verdicts, entry):
    expected = entry["expected"]
    if expected == "accept":
        expected = [ACCEPTED]
    elif entry["level"] == "D":
        expected = [f"{ACCEPTED}, contents: InvalidDescriptorError"]
    assert verdicts[entry["name"]] in expected, entry["rule"]
