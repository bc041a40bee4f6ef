"""Reading a page of HTML as a tree of tags."""

from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "br", "img"}


@dataclass
class Page(HTMLParser):
    """The tags of a page, with what is wrong about them."""

    stack: list[str] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    targets: list[str] = field(default_factory=list)
    attributes: list[tuple[str, str, str]] = field(default_factory=list)
    heads: list[int] = field(default_factory=list)
    texts: list[tuple[str, str]] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    in_code: bool = False

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note a tag."""
        for name, value in attrs:
            self.attributes.append((tag, name, value or ""))
            if name == "id":
                self.ids.append(value or "")
            if name in ("href", "aria-labelledby"):
                self.targets += (value or "").replace("#", "").split()
        if len(tag) == 2 and tag[0] == "h" and tag[1].isdigit():
            self.heads.append(int(tag[1]))
        if tag not in VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note a tag without contents."""
        self.handle_starttag(tag, attrs)
        self.stack.pop()

    def handle_endtag(self, tag: str) -> None:
        """Note an end, which must be that of the innermost tag."""
        self.in_code &= tag != "code"
        if not self.stack or self.stack.pop() != tag:
            self.wrong.append(f"</{tag}> at {self.getpos()}")

    def handle_data(self, data: str) -> None:
        """Note a text with the tag that it stands in; that of a command is one text, whatever marks parts of it."""
        if "code" in self.stack and self.texts and self.in_code:
            self.texts[-1] = ("code", self.texts[-1][1] + data)
        elif self.stack:
            self.texts.append(("code" if "code" in self.stack else self.stack[-1], data))
        self.in_code = "code" in self.stack

    def inside(self, tag: str) -> list[str]:
        """Return the texts that stand right inside such tags."""
        return [text for own, text in self.texts if own == tag]


def read(text: str) -> Page:
    """Return a page that was read to its end."""
    page = Page()
    page.feed(text)
    page.close()
    page.wrong += [f"<{tag}> is not closed" for tag in page.stack]
    return page
