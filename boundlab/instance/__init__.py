"""A theorem meets a problem and delays: whether they fit, and what the bound is then."""

from boundlab.instance.plan import Plan as Plan, make_plan as make_plan
