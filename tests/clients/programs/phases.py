"""How the programs here say what they hold: a line on stdout, then a wait for whoever runs them."""

import json


def phase(name, **holds):
    """`holds`: bytes by kind as the library under test has them: requested, used, pool, ... (async_: no keyword)."""
    print(json.dumps({'phase': name, 'holds': {kind.rstrip('_'): int(held) for kind, held in holds.items()}}), flush=True)
    input()


def tried(what, action):
    """What the action gives; the program ends well where the library refuses, and says why."""
    try:
        return action()
    except Exception as refusal:  # whatever a library may throw
        print(json.dumps({'stopped': f'{what}: {type(refusal).__name__}: {refusal}'.splitlines()[0]}), flush=True)
        raise SystemExit(0) from None
