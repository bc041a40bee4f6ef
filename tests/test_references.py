"""Every theorem and every algorithm says where its paper is found, or why it does not."""

import json
import re
from typing import Any

from boundlab.cli import invoke
from boundlab.references import PAPERS, REFERENCES, WITHOUT, Reference, reference
from boundlab.registry import registered


def test_every_paper_of_a_theorem_or_an_algorithm_has_a_number_or_a_reason() -> None:
    papers = {one.paper for one in registered("theorems").values()} | {*PAPERS.values()}
    assert papers == {*REFERENCES, *WITHOUT}
    assert not {*REFERENCES} & {*WITHOUT}
    assert {*PAPERS} == {*registered("algorithms")}


def test_numbers_are_written_as_they_are_resolved() -> None:
    for paper, one in REFERENCES.items():
        assert one.doi or one.arxiv, paper
        assert re.fullmatch(r"(10\.\d{4,9}/\S+)?", one.doi), paper
        assert re.fullmatch(r"(\d{4}\.\d{4,5})?", one.arxiv), paper
        year = re.search(r"\((\d{4})\)$", paper)
        if year and one.arxiv:  # an article is rarely printed before it is on arXiv
            assert 2000 + int(one.arxiv[:2]) <= int(year[1]), paper
    numbers = [one.words() for one in REFERENCES.values()]
    assert len(set(numbers)) == len(numbers)


def test_they_are_shown(capsys: Any) -> None:
    assert invoke(["show", "fedcompass.theorem1"]) == 0
    assert "arXiv:2309.14675" in capsys.readouterr().out
    for what, name in (("theorems", "fedfa.theorem1"), ("algorithms", "fedfa")):
        assert invoke(["list", what, "--json"]) == 0
        (found,) = (one for one in json.loads(capsys.readouterr().out)["entries"] if one["id"] == name)
        assert found["reference"] == {"doi": "10.24963/ijcai.2024/584", "arxiv": "2404.11015"}


def test_a_paper_that_is_not_known_has_none() -> None:
    assert reference("mine") == Reference()
    assert reference("mine").words() == ""
    assert reference("mine").as_dict() == {}
