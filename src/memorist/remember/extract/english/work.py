"""What people do for a living, and what they study."""

from __future__ import annotations

from collections.abc import Mapping

from memorist.remember.extract.object_matchers import (
    capitalised,
    club,
    company,
    doing,
    job,
    named_school,
    one_thing,
    organisation,
    project,
    school,
    value,
)
from memorist.remember.extract.rules import Rule, Say, rule

_EMPLOYER = Say("o", "works_at", organisation)
_AT_EMPLOYER = Say("o", "works_at", organisation, needed=False)
_LEFT = Say("o", "works_at", organisation, negated=True)
_JOB = Say("job", "works_as", job)
_JOB_IF = Say("job", "works_as", job, needed=False)
_WORKING = r"(?:full[- ]time |part[- ]time |remotely |there |hard )*"
_AT = r"(?:at|for|with)"
_FIELD = Say("field", "works_in", one_thing)
_FIELDS = (
    r"(?P<field>(?:finance|marketing|sales|tech|IT|HR|healthcare|education|software|law|real estate|construction|retail"
    r"|advertising|publishing|hospitality|banking|research|insurance|consulting|logistics|media|fashion|film)\b)"
)
_SUBJECTS = (
    r"(?P<field>art|biology|business|chemistry|computer science|design|drama|economics|engineering|english|film|history"
    r"|journalism|law|maths?|mathematics|medical|medicine|music|nursing|philosophy|physics|psychology|theology)"
)

VERBS: Mapping[str, tuple[Rule, ...]] = {
    "work works": (
        rule(rf" {_WORKING}as (?P<job>[^,;]+?)(?: {_AT} (?P<o>.+))?$", _JOB, _AT_EMPLOYER, personal=True),
        rule(rf" {_WORKING}{_AT} (?P<o>.+?)(?: as (?P<job>.+))?$", _EMPLOYER, _JOB_IF),
        rule(rf" {_WORKING}in {_FIELDS}", _FIELD),
    ),
    "worked": (
        rule(rf" {_WORKING}{_AT} (?P<o>.+)", _EMPLOYER, past=True),
        rule(rf" {_WORKING}as (?P<job>.+)", _JOB, past=True, personal=True),
    ),
    "joined": (
        rule(r" (?P<o>.+)", Say("o", "member_of", club), event=True, past=True),
        rule(r" (?P<o>.+)", Say("o", "works_at", company), event=True, past=True),
    ),
    "started began": (
        rule(rf" working {_AT} (?P<o>.+?)(?: as (?P<job>.+))?$", _EMPLOYER, _JOB_IF, event=True, past=True),
        rule(rf" (?:a|my) (?:new )?job {_AT} (?P<o>.+)", _EMPLOYER, event=True, past=True),
        rule(
            rf" (?:a |my )?(?:new job|working) as (?P<job>.+?)(?: {_AT} (?P<o>.+))?$",
            _JOB,
            _AT_EMPLOYER,
            event=True,
            past=True,
        ),
        rule(r" at (?P<o>.+)", Say("o", "works_at", company), event=True, past=True),
        rule(
            r" (?:my |a )?(?:degree |studies |studying )?(?:at) (?P<o>.+)",
            Say("o", "studies_at", named_school),
            event=True,
            past=True,
        ),
    ),
    "got landed": (
        rule(
            rf" (?:a|the|my) (?:new )?(?:job|position|role) {_AT} (?P<o>.+?)(?: as (?P<job>.+))?$",
            _EMPLOYER,
            _JOB_IF,
            event=True,
            past=True,
        ),
        rule(
            rf" (?:a|the|my) (?:new )?(?:job|position|role) as (?P<job>.+?)(?: {_AT} (?P<o>.+))?$",
            _JOB,
            _AT_EMPLOYER,
            event=True,
            past=True,
        ),
        rule(r" (?:promoted to|hired as) (?P<job>.+)", _JOB, event=True, past=True),
        rule(r" hired (?:at|by) (?P<o>.+)", _EMPLOYER, event=True, past=True),
        rule(r" (?:fired|laid off) (?:from|by) (?P<o>.+)", _LEFT, event=True, past=True),
    ),
    "became": (rule(r" (?P<job>.+)", _JOB, event=True, past=True, personal=True),),
    "left quit": (
        rule(rf" (?:my job|my position|my role|working) {_AT} (?P<o>.+)", _LEFT, event=True, past=True),
        rule(r" (?P<o>[A-Z].+)", Say("o", "works_at", company, negated=True), event=True, past=True),
        rule(
            r" (?:my|being) (?:job as )?(?P<job>.+)", Say("job", "works_as", job, negated=True), event=True, past=True
        ),
    ),
    "lost": (
        rule(rf" my (?:\w+ )?job {_AT} (?P<o>.+)", _LEFT, event=True, past=True),
        rule(r" my (?:\w+ )?job as (?P<job>.+)", Say("job", "works_as", job, negated=True), event=True, past=True),
    ),
    "stopped": (rule(rf" working {_AT} (?P<o>.+)", _LEFT, event=True, past=True),),
    "retired": (rule(r" from (?P<o>.+)", _LEFT, event=True, past=True),),
    "study studies": (
        rule(
            r" (?P<field>[^,;]+?)(?: at (?P<o>.+))?$",
            Say("field", "studies", one_thing),
            Say("o", "studies_at", school, needed=False),
        ),
        rule(r" at (?P<o>.+)", Say("o", "studies_at", school)),
    ),
    "studied": (
        rule(
            r" (?P<field>[^,;]+?) (?:at|in) (?P<o>[A-Z].+)",
            Say("field", "studied", one_thing, needed=False),
            Say("o", "studied_at", school),
            past=True,
            timeless=True,
        ),
        rule(r" at (?P<o>.+)", Say("o", "studied_at", school), past=True, timeless=True),
    ),
    "major majors": (rule(r" in (?P<o>.+)", Say("o", "studies", one_thing)),),
    "majored": (rule(r" in (?P<o>.+)", Say("o", "studied", one_thing), past=True, timeless=True),),
    "graduated": (rule(r" from (?P<o>.+)", Say("o", "studied_at", school), past=True, timeless=True),),
    "attend attends go goes": (rule(r" (?:to )?(?P<o>.+)", Say("o", "studies_at", named_school)),),
    "founded": (rule(r" (?P<o>.+)", Say("o", "founded", capitalised), past=True, timeless=True),),
    "run runs": (rule(r" (?P<o>.+)", Say("o", "runs", organisation)),),
    "plan plans intend intends": (rule(r" (?:to|on) (?P<o>.+)", Say("o", "plans_to", doing), plain=True),),
}
BE = (
    rule(rf"working {_WORKING}(?:as) (?P<job>[^,;]+?)(?: {_AT} (?P<o>.+))?$", _JOB, _AT_EMPLOYER, personal=True),
    rule(rf"working {_WORKING}{_AT} (?P<o>.+?)(?: as (?P<job>.+))?$", _EMPLOYER, _JOB_IF),
    rule(rf"working in {_FIELDS}", _FIELD),
    rule(r"working on an? (?:new )?project (?:called|named) (?P<o>.+)", Say("o", "current_project", value)),
    rule(r"working on (?P<o>.+)", Say("o", "current_project", project), personal=True, plain=True),
    rule(r"employed (?:at|by) (?P<o>.+)", _EMPLOYER),
    rule(r"(?:fired|laid off) (?:from|by) (?P<o>.+)", _LEFT, event=True),
    rule(
        r"(?:the|an?) (?P<job>[^,;]+?)(?: (?:at|for|of|with) (?P<o>.+))?$",
        _JOB,
        _AT_EMPLOYER,
        personal=True,
        plain=True,
    ),
    rule(
        r"studying (?P<field>[^,;]+?)(?: at (?P<o>.+))?$",
        Say("field", "studies", one_thing),
        Say("o", "studies_at", school, needed=False),
    ),
    rule(r"studying (?:[^,;]+ )?at (?P<o>.+)", Say("o", "studies_at", school)),
    rule(
        r"majoring in (?P<field>[^,;]+?)(?: at (?P<o>.+))?$",
        Say("field", "studies", one_thing),
        Say("o", "studies_at", school, needed=False),
    ),
    rule(r"an? (?:[\w-]+ ){0,3}student (?:at|of) (?P<o>.+)", Say("o", "studies_at", school)),
    rule(r"an? (?P<field>[\w-]+(?: [\w-]+)?) major\b", Say("field", "studies", one_thing)),
    rule(rf"an? {_SUBJECTS} student\b", Say("field", "studies", one_thing)),
    rule(r"planning (?:to|on) (?P<o>.+)", Say("o", "plans_to", doing), plain=True),
    rule(r"at (?P<o>.+? for .+)", Say("o", "works_at", company)),
)
HAVE = (rule(r"a (?:new )?job at (?P<o>.+)", _EMPLOYER),)
_PROJECT = (rule(r" project(?: right now)? is (?P<o>.+)", Say("o", "current_project", value)),)
OWN: Mapping[str, tuple[Rule, ...]] = {
    "job": (
        rule(r" is (?:as |being )?(?P<job>.+)", _JOB),
        rule(r" title is (?P<job>.+)", _JOB),
    ),
    "current new": (
        *_PROJECT,
        rule(r" job is (?:at|with) (?P<o>.+)", _EMPLOYER),
        rule(r" (?:employer|company) is (?P<o>.+)", _EMPLOYER),
    ),
    "employer company": (rule(r" is (?:called )?(?P<o>.+)", _EMPLOYER),),
    "goal": (rule(r" is to (?P<o>.+)", Say("o", "goal", doing)),),
    "dream": (rule(r" is to (?P<o>.+)", Say("o", "dream", doing)),),
    "plan": (rule(r" is to (?P<o>.+)", Say("o", "plans_to", doing), plain=True),),
    "major": (rule(r" (?:is|was) (?P<o>.+)", Say("o", "studies", one_thing)),),
}
