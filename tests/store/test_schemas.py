"""The JSON Schemas under docs are those that the code declares."""

from __future__ import annotations

import dataclasses
from typing import get_args, get_type_hints

import pytest
from schemas import DOCUMENTS, FOLDER, schema_text

from eqbench.equilibria import Identity
from eqbench.harness.experiment import Request
from eqbench.model.play import Play
from eqbench.model.profile import BehaviorProfile
from eqbench.registry import load_game
from eqbench.solver import CLAIMS
from eqbench.store.schema import (
    Claim,
    IdentityRecord,
    KindRecord,
    RequestRecord,
    SubgamesRecord,
)
from eqbench.verdicts import Proof, kind_of
from eqbench.verdicts.kinds import ACTIONS_ONLY


@pytest.mark.parametrize("name", DOCUMENTS)
def test_committed_schema_is_the_one_that_is_generated(name: str) -> None:
    assert (FOLDER / f"{name}.json").read_text(encoding="utf-8") == schema_text(name)


def test_every_schema_is_described() -> None:
    assert {file.stem for file in FOLDER.iterdir()} == set(DOCUMENTS)
    page = FOLDER.with_suffix(".md").read_text(encoding="utf-8")
    for name in DOCUMENTS:
        assert f"(schemas/{name}.json)" in page


def test_records_have_the_fields_of_what_they_record() -> None:
    assert set(get_args(Claim)) == set(CLAIMS)
    for record, recorded in ((IdentityRecord, Identity), (RequestRecord, Request)):
        assert set(record.__annotations__) == {each.name for each in dataclasses.fields(recorded)}


def test_kinds_have_the_fields_of_their_records() -> None:
    tree = load_game("kuhn2").tree
    found = kind_of(Play.of(tree, BehaviorProfile.uniform(tree))).to_json()
    assert set(found) == set(KindRecord.__annotations__)
    assert set(found["subgame_perfect"]) == set(SubgamesRecord.__annotations__)
    fields = get_type_hints(KindRecord)
    assert set(get_args(fields["sequential"])) == {proof.value for proof in Proof}
    assert set(get_args(fields["undominated"])) == {*(proof.value for proof in Proof), ACTIONS_ONLY}
