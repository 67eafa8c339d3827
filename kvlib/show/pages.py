"""A widget without a kernel: as an element of a page, and as a page of its own."""

import html
import json

from kvlib.show.modules import script, styles

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<link rel="icon" href="data:,">
<style>
:root {{ color-scheme: light dark; }}
body {{ margin: 1rem; font-family: system-ui, sans-serif; }}
main {{ max-width: 75rem; margin-inline: auto; }}
{styles}
</style>
</head>
<body>
<main>
<h1 style="font-size: 1.2rem">{title}</h1>
{element}
</main>
<script>
{script}
</script>
</body>
</html>
"""


def element(name: str, traits: dict[str, object], text: str) -> str:
    """The place of the widget `name` in a page, with its data; `text` stands there until a script shows it.

    `traits` must be what JSON can hold.
    """
    data = json.dumps(traits, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c")
    return (
        f'<div class="kv-widget" data-widget="{html.escape(name)}"><script type="application/json">{data}</script>'
        f'<p class="kv-widget-text">{html.escape(text)}</p></div>'
    )


def whole_page(name: str, traits: dict[str, object], text: str, title: str) -> str:
    """The widget `name` as one HTML file, which needs no other file and no network."""
    inline = script(name).replace("</script", "<\\/script").replace("<!--", "<\\!--")
    return _PAGE.format(
        title=html.escape(title), styles=styles(name), element=element(name, traits, text), script=inline
    )
