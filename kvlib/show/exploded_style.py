"""How the exploded drawing looks: its colours follow the page, and a part that is pointed at stands out."""

from kvlib.show.exploded_labels import PARTS
from kvlib.show.figures import GRID, INK, MUTED, PAPER, SEQUENCES, variable

SURFACE = "#f4f2ec"

_COLOURS = {
    "paper": variable(PAPER),
    "surface": f"var(--kv-surface, var(--jp-layout-color1, {SURFACE}))",
    "ink": variable(INK),
    "muted": variable(MUTED),
    "grid": variable(GRID),
} | {f"seq-{letter}": variable(colour) for letter, colour in zip("abcdef", SEQUENCES)}

# & is the drawing: a rule is for what is in it, and for nothing else on the page.
_RULES = """
& text { font: 500 11px var(--kv-sans, sans-serif); fill: var(--ink); text-anchor: middle; }
& path { stroke: var(--ink); stroke-width: .6; stroke-linejoin: round; stroke-linecap: round; }
& .top { fill: var(--paper); }
& .left { fill: var(--surface); }
& .right { fill: var(--grid); }
& .recess { fill: var(--surface); stroke-width: .4; }
& .engraved { font-size: 10.5px; }
& .plate { fill: var(--paper); stroke: var(--muted); stroke-width: .45; }
& .tenth { stroke: var(--ink); stroke-width: .8; }
& .bore { fill: var(--muted); stroke: none; }
& .way .bore { fill: var(--seq); }
& .hole { fill: var(--ink); stroke: none; opacity: .72; }
& .slot { fill: var(--grid); stroke-width: .45; }
& .taken .slot { fill: var(--seq); stroke: var(--seq); stroke-width: 1.4; }
& .used .top { fill: color-mix(in oklab, var(--seq) 30%, var(--paper)); }
& .used .left { fill: color-mix(in oklab, var(--seq) 55%, var(--paper)); }
& .used .right { fill: color-mix(in oklab, var(--seq) 75%, var(--paper)); }
& .followed .top, & .followed .flap { fill: var(--seq); }
& .followed .hole { fill: var(--paper); opacity: 1; }
& .followed .flap-number { fill: var(--paper); }
& .followed .hinge { stroke: var(--paper); }
& .stem { fill: var(--muted); stroke: none; }
& .value, & .key { fill: var(--seq, var(--muted)); stroke: var(--paper); stroke-width: .4; }
& .shade { fill: color-mix(in oklab, var(--seq, var(--muted)) 75%, var(--ink)); }
& .light { fill: color-mix(in oklab, var(--seq, var(--muted)) 70%, var(--paper)); }
& .dot, & .bar { fill: none; stroke: none; }
& .pin:not(.solid) .key.light { fill: var(--paper); stroke: var(--seq); stroke-width: .9; }
& .dotted .dot { fill: var(--seq); }
& .barred .bar { stroke: var(--seq); stroke-width: 1; }
& .letter { font-weight: 700; font-size: 12px; fill: var(--seq); }
& .flap { fill: var(--paper); }
& .blank { fill: none; stroke: var(--muted); stroke-width: .4; }
& .flap-number { font-weight: 600; }
& .thread { fill: none; stroke: var(--seq); stroke-width: 1.1; stroke-dasharray: 3 2.2; }
& .head { fill: none; stroke: var(--seq); stroke-width: 1.3; }
& .type, & .type-end, & .type-top { fill: var(--paper); stroke: var(--seq); }
& .type-end { fill: color-mix(in oklab, var(--seq) 60%, var(--paper)); }
& .type-top { fill: color-mix(in oklab, var(--seq) 25%, var(--paper)); }
& .unstored path { fill: var(--paper); stroke: var(--muted); stroke-dasharray: 2 1.6; }
& .piece { font-size: 10.5px; }
& .axis { fill: none; stroke: var(--muted); stroke-width: .8; stroke-dasharray: 1 3; }
& .leader { fill: none; stroke: var(--muted); stroke-width: .8; }
& .caption { font-size: 10.5px; fill: var(--muted); text-anchor: start; }
& a.part, & a.label { text-decoration: none; }
& a.label { outline: none; }
& .disc { fill: var(--paper); stroke: var(--ink); stroke-width: 1.1; }
& .ring { fill: none; stroke: none; stroke-width: 2; }
& .digit { font-weight: 700; font-size: 12.5px; }
& .name { font-weight: 600; }
& .label:is(:hover, :focus-visible) .disc { fill: var(--ink); }
& .label:is(:hover, :focus-visible) .digit { fill: var(--paper); }
& .label:is(:hover, :focus-visible) .name { text-decoration: underline; }
& .label:focus-visible .ring { stroke: var(--ink); }
"""

# What is pointed at or has the focus stands out, since all other parts fade.
_FADE = "".join(f"&:has(.{part}:is(:hover, :focus-visible)) .part:not(.{part}) {{ opacity: .2; }}\n" for part in PARTS)
# Under a finger parts lie too close together to be told apart: there only the numbers are links.
_COARSE = "@media (hover: none) { & .part { pointer-events: none; } }\n"
_SLOWLY = "@media (prefers-reduced-motion: no-preference) { & .part { transition: opacity .15s; } }\n"

_VARIABLES = "".join(f"--{name}: {value}; " for name, value in _COLOURS.items())

STYLE = f"& {{ {_VARIABLES}}}\n{_RULES}{_FADE}{_COARSE}{_SLOWLY}".replace("&", ".kv-exploded")
