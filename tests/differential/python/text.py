## json: round trip with sorted keys
import json
data = {"b": [1, 2.5, None, True], "a": {"é": "ü\n"}}
print(json.dumps(data, sort_keys=True), json.loads(json.dumps(data)) == data)
## json: indent, separators, ascii
import json
print(json.dumps({"k": ["é", 1]}, indent=2))
print(json.dumps([1, {"a": "é"}], separators=(",", ":"), ensure_ascii=False))
## json: hooks and errors
import json
print(json.loads('{"a": {"b": 1}}', object_hook=lambda d: sorted(d)))
print(json.loads("[1.10]", parse_float=str))
try:
    json.loads('{"a": ')
except json.JSONDecodeError as error:
    print(error.pos, error.lineno, error.colno)
## json: default
import json, datetime
print(json.dumps({"d": datetime.date(2026, 1, 2)}, default=str))
## re: groups and names
import re
m = re.match(r"(?P<year>\d{4})-(?P<month>\d\d)", "2026-07-01")
print(m.groupdict(), m.span("month"), m[1])
## re: sub with a function
import re
print(re.sub(r"\d+", lambda m: str(int(m[0]) * 2), "a1 b22 c333"))
## re: split and findall
import re
print(re.split(r"[,;]\s*", "a, b;c,  d"), re.findall(r"(\w)(\d)", "a1b2"))
## re: flags, look around
import re
print(re.findall(r"(?<=\$)\d+(?=\.)", "$12.50 and $7.25"), bool(re.search("HELLO", "hello", re.I)))
## re: verbose, multiline, dotall
import re
p = re.compile(r"""^ (\w+) \s* = \s* (.*?) $ # a setting""", re.X | re.M)
print(p.findall("a = 1\nb=two\n"), re.match("a.b", "a\nb", re.S) is not None)
## re: unicode and escapes
import re
print(re.findall(r"\w+", "naïve café Ω 北京"), re.escape("a.b*c"), re.fullmatch(r"[^\W\d_]+", "Ünï") is not None)
## re: iteration over positions
import re
print([(m.start(), m.group()) for m in re.finditer("ab|a", "aabab")])
## textwrap: fill and indent
import textwrap
text = "The quick brown fox jumps over the lazy dog and runs away."
print(textwrap.fill(text, 20))
print(textwrap.indent("a\n\nb", "> "), textwrap.shorten(text, 25), sep="\n")
## textwrap: dedent
import textwrap
print(textwrap.dedent("""\
    one
      two
    three"""))
## string: template and constants
import string
print(string.Template("$who owes ${much} $$").substitute(who="Ann", much=3), string.ascii_lowercase[:5], string.punctuation)
## string: capwords, Formatter
import string
print(string.capwords("hello  big world"), list(string.Formatter().parse("a{b!r:>{w}}c")))
## str: methods
s = "Hello, Wörld"
print(s.casefold(), s.swapcase(), s.partition(", "), s.center(20, "*"), s.zfill(15), s.encode("utf-8"))
## str: split, strip, translate
print("a,b,,c".split(","), "  x ".strip(), "a\nb\r\nc".splitlines(), "hello".translate(str.maketrans("el", "ip")), "xxabxx".removeprefix("xx").removesuffix("x"))
## str: tests
print("abc".isalpha(), "12".isdigit(), "½".isnumeric(), "Ab".istitle(), "a b".isidentifier(), "".isspace())
## str: format mini language
print(f"{3.14159:.2f}|{42:>8}|{42:<8}|{42:^8}|{255:#x}|{1234567:,}|{0.25:.1%}|{-7:+d}|{1e10:g}|{'x':*^5}")
## str: f-strings
name, n = "Ann", 3
print(f"{name!r} {n=} {n + 1 = } {'nested ' + f'{n:03}'} {{}}")
## str: percent formatting
print("%5.1f|%-6s|%06d|%x|%%|%r" % (2.345, "ab", 42, 255, "q"))
## unicodedata
import unicodedata
print(unicodedata.name("é"), unicodedata.normalize("NFD", "é").encode(), unicodedata.category("A"), unicodedata.bidirectional("ا"))
## difflib: unified
import difflib
print("\n".join(difflib.unified_diff(["a", "b", "c"], ["a", "x", "c"], "one", "two", lineterm="")))
## difflib: ratio and close matches
import difflib
print(round(difflib.SequenceMatcher(None, "abcd", "bcde").ratio(), 4), difflib.get_close_matches("appel", ["ape", "apple", "peach"]))
## difflib: ndiff and opcodes
import difflib
print("\n".join(difflib.ndiff(["one", "two"], ["ore", "two"])))
print(difflib.SequenceMatcher(None, "qabxcd", "abycdf").get_opcodes())
## html: escape and parser
import html
from html.parser import HTMLParser
class P(HTMLParser):
    def handle_starttag(self, tag, attrs): print("<", tag, attrs)
    def handle_data(self, data): print("=", data)
P().feed('<p class="x">Hi &amp; <b>bye</b></p>')
print(html.escape('<a href="x">'), html.unescape("&eacute;&lt;&#65;"))
## xml: parse and find
import xml.etree.ElementTree as ET
root = ET.fromstring('<r><i n="1">a</i><i n="2">b</i></r>')
print([(e.get("n"), e.text) for e in root.iter("i")], root.find("i[@n='2']").text)
## xml: build
import xml.etree.ElementTree as ET
r = ET.Element("r", a="1")
ET.SubElement(r, "c").text = "x < y"
ET.indent(r)
print(ET.tostring(r, encoding="unicode"))
## xml: minidom and errors
from xml.dom import minidom
import xml.etree.ElementTree as ET
print(minidom.parseString("<a><b/></a>").documentElement.firstChild.tagName)
try:
    ET.fromstring("<a>")
except ET.ParseError as error:
    print(error.code, error.position)
## urllib.parse
from urllib.parse import parse_qs, quote, unquote, urlencode, urljoin, urlsplit
u = urlsplit("https://user@host.test:8080/a/b?x=1&x=2#f")
print(u.hostname, u.port, u.path, parse_qs(u.query), u.fragment)
print(quote("a b/é"), unquote("%C3%A9"), urlencode({"q": "a&b", "n": 1}), urljoin("http://h.test/a/b", "../c"))
## csv: reader and dialects
import csv, io
print(list(csv.reader(io.StringIO('a,"b, c",d\n1,"x ""y""",3\n'))), list(csv.reader(["a;b;'c;d'"], delimiter=";", quotechar="'")))
## csv: DictReader and DictWriter
import csv, io
rows = list(csv.DictReader(io.StringIO("name,n\nann,1\nbob,2\n")))
out = io.StringIO()
w = csv.DictWriter(out, ["n", "name"], lineterminator="\n")
w.writeheader()
w.writerows(rows)
print(rows, repr(out.getvalue()))
## csv: quoting and sniffing
import csv, io
out = io.StringIO()
csv.writer(out, quoting=csv.QUOTE_NONNUMERIC).writerow([1, "a", 2.5, "b\nc"])
print(repr(out.getvalue()), csv.Sniffer().sniff("a;b;c\n1;2;3\n").delimiter)
## configparser
import configparser
c = configparser.ConfigParser()
c.read_string("[a]\nx = 1\ny = %(x)s2\n[b]\nflag = yes\n")
print(c.sections(), c["a"]["y"], c.getboolean("b", "flag"), c.get("b", "none", fallback="f"))
## tomllib
import tomllib
print(tomllib.loads('a = 1\n[t]\nl = [1, 2.5]\nd = 2026-01-02\ns = "x"'))
## shlex
import shlex
print(shlex.split("a 'b c' \"d e\" f\\ g"), shlex.quote("it's"), shlex.join(["a b", "c"]))
## fnmatch and glob patterns
import fnmatch
print(fnmatch.filter(["a.py", "b.txt", "c.PY"], "*.py"), fnmatch.fnmatchcase("abc", "a[!x]c"))
## pprint
import pprint
pprint.pprint({"names": ["alpha", "beta", "gamma"] * 4, "n": {"x": 1, "y": (1, 2)}}, width=40)
## reprlib
import reprlib
print(reprlib.repr(list(range(100))), reprlib.repr("x" * 100))
## email: build and parse
from email.message import EmailMessage
from email import message_from_string
m = EmailMessage()
m["To"], m["Subject"] = "a@acme.test", "Hi"
m.set_content("Body\n")
p = message_from_string(m.as_string())
print(p["To"], p["Subject"], repr(p.get_payload()))
## email: addresses and headers
from email.utils import formataddr, parseaddr, getaddresses
from email.header import decode_header, make_header
print(parseaddr("Ann <ann@acme.test>"), formataddr(("Bob B", "b@acme.test")), getaddresses(["x@a.test, Y <y@a.test>"]))
print(make_header(decode_header("=?utf-8?q?caf=C3=A9?=")))
## quopri, uu-less codecs
import quopri, codecs
print(quopri.encodestring("é=x".encode()), codecs.encode("Hello", "rot13"), codecs.decode(b"\xff\xfea\x00", "utf-16"))
## encodings
for name in ("latin-1", "cp1252", "utf-16-le", "shift_jis", "gb18030", "koi8-r", "idna"):
    try:
        print(name, "aé".encode(name, "replace"))
    except UnicodeError as error:
        print(name, type(error).__name__)
## bytes and bytearray
b = bytearray(b"abc")
b[0] = 65
b += b"\x00\xff"
print(b, b.hex(" "), bytes.fromhex("0aff"), b.find(b"c"), memoryview(b)[1:3].tobytes(), int.from_bytes(b"\x01\x00", "big"))
## locale of the sandbox
import locale
print(locale.setlocale(locale.LC_ALL, "C"), locale.localeconv()["decimal_point"], locale.atof("1.5"))
## gettext without catalogues
import gettext
print(gettext.gettext("hello"), gettext.ngettext("one", "many", 2))
## stringprep and punycode
print("bücher".encode("punycode"), b"bcher-kva".decode("punycode"))
## tokenize and keyword
import io, keyword, tokenize
print([(tokenize.tok_name[t.type], t.string) for t in tokenize.generate_tokens(io.StringIO("x = 1 + y\n").readline)], keyword.iskeyword("yield"))
## ast: parse and unparse
import ast
print(ast.unparse(ast.parse("x=[i**2 for i in y if i]")), ast.literal_eval("{'a': [1, (2, None)]}"))
