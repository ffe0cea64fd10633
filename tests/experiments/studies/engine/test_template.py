"""Pages are templates filled in, and the published pages are those of today's templates."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from benchmarks.runner.pages import TEMPLATES
from experiments.reproduce.page import TEMPLATE
from experiments.studies.engine.template import FOLDER, Template

FOLDERS = (FOLDER, TEMPLATES, TEMPLATE.parent)
READ = {path.stem: Template.read(path) for folder in FOLDERS for path in folder.glob("*.md")}
PAGES = {name: page for name, template in READ.items() if (page := template.head.get("page"))}


def test_places_are_filled_in():
    """A name with a form, an entry of a mapping, an attribute; a list takes the line, also in its middle of nowhere."""
    template = Template({}, {"page": "# {{ title }}\n\n{{ rows }}\n{{ a[b]:g }} of {{ c.d:.1f }} {x}\n"})
    values = {"title": "T", "rows": ["one", "two"], "a": {"b": 3.0}, "c": SimpleNamespace(d=2.0)}
    assert template.page(values) == "# T\n\none\ntwo\n3 of 2.0 {x}\n"
    with pytest.raises(KeyError, match="title"):
        template.page({})


@pytest.mark.parametrize("place", ["{{ a:g}}", "{{a }}", "{{a}}", "{{ a"])
def test_braces_that_are_no_place_are_refused(tmp_path, place):
    """A page would show them to its readers."""
    path = tmp_path / "page.md"
    path.write_text(f"# Title\n\n{{{{ a }}}} and {place}\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"page\.md, line 3: expected places as \{\{ name \}\}"):
        Template.read(path)


@pytest.mark.parametrize("name", sorted(PAGES))
def test_a_published_page_has_its_template_s_words_in_their_order(name):
    """Whoever changes the words of a page's template changes the page in docs with them; findings are left out."""
    page = " ".join((Path(__file__).parents[4] / PAGES[name]).read_text(encoding="utf-8").split())
    place = 0
    for words in re.split(r"\{\{ .+? \}\}", READ[name].parts["page"]):
        said = " ".join(words.split())
        assert said in page[place:], said
        place = page.index(said, place) + len(said)
