"""The audit as JSON-ready fields."""

from typing import TYPE_CHECKING, Any

from boundlab.__about__ import __version__
from boundlab.audit._commands import commands, origins, statement_hash
from boundlab.audit._comparison import panel_fields
from boundlab.audit._first_false_step import first_false_step
from boundlab.audit._ruling import rule
from boundlab.files import Document, schema
from boundlab.pages.proofs import as_dict as proof_fields

if TYPE_CHECKING:
    from boundlab.audit._evidence import Evidence, ProofEvidence, Repair, Search


def fields(audit: "Evidence") -> Document:
    """Return everything that the page says, and what it was made from."""
    ruling = rule(audit)
    return Document(
        schema=schema("audit"),
        boundlab=__version__,
        theorem=audit.theorem.as_dict(),
        verdict=ruling.word,
        reasons=list(ruling.reasons),
        exit_code=int(ruling.code),
        budget=audit.budget,
        seed=audit.seed,
        seconds=round(audit.seconds, 1),
        checks=[one.as_dict() for one in audit.checks.checks],
        case=None if audit.case is None else dict(audit.case),
        case_file=audit.case_file,
        exact=None if audit.exact is None else audit.exact.as_dict(),
        search=_search(audit.search),
        proofs=[_proof(one) for one in audit.proofs],
        repairs=[_repair(one) for one in audit.repairs],
        comparison=panel_fields(audit.panel),
        not_decided=[
            {"what": one.what, "of": one.of, "why": one.why, "decided_by": one.decided_by} for one in audit.gaps
        ],
        commands=commands(audit),
        core=statement_hash(audit.theorem),
        origins=origins(audit.theorem),
        provenance=dict(audit.provenance),
    )


def _search(search: "Search | None") -> dict[str, Any] | None:
    return None if search is None else {"command": search.command, **search.found.as_dict()}


def _proof(one: "ProofEvidence") -> dict[str, Any]:
    false = first_false_step(one)
    return {
        "command": one.command,
        "settles": one.settles,
        "first_slip": None if false is None else false.name,
        "on_cases": [
            {
                "case_file": seen.case_file,
                "why": seen.why,
                "false": [
                    {
                        "step": own.step.name,
                        "decided": own.decided,
                        "at": dict(own.row.indices),
                        "left": str(own.row.left),
                        "right": str(own.row.right),
                    }
                    for own in seen.false
                ],
            }
            for seen in one.seen
        ],
        **proof_fields(one.outcome),
    }


def _repair(one: "Repair") -> dict[str, Any]:
    return {
        "id": one.theorem.id,
        "title": one.theorem.title,
        "proved": one.proved,
        "contradicted": one.contradicted,
        "proofs": [_proof(proof) for proof in one.proofs],
        "on_case": None if one.on_case is None else one.on_case.as_dict(),
        "search": _search(one.search),
        "worst_case": None if one.worst is None else {"command": one.worst.command, **one.worst.found.as_dict()},
        "comparison": panel_fields(one.panel),
    }
