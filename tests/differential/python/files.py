## open: text
with open("a.txt", "w") as f:
    print(f.write("one\ntwo\n"), f.name)
with open("a.txt") as f:
    print(f.readline(), f.read(), f.tell())
with open("a.txt", "a") as f:
    f.write("three")
print(open("a.txt").read().splitlines())
## open: bytes and seek
with open("b.bin", "wb") as f:
    f.write(bytes(range(10)))
with open("b.bin", "r+b") as f:
    f.seek(5)
    f.write(b"xy")
    f.seek(-2, 2)
    print(f.read(), f.seekable())
print(open("b.bin", "rb").read())
## open: modes and errors
open("c.txt", "w").close()
for how in (lambda: open("none.txt"), lambda: open("c.txt", "x"), lambda: open("c.txt", "zz"), lambda: open(".")):
    try:
        how()
    except (OSError, ValueError) as error:
        print(type(error).__name__)
## open: encodings
with open("e.txt", "w", encoding="latin-1") as f:
    f.write("é")
print(open("e.txt", "rb").read())
try:
    open("e.txt", encoding="utf-8").read()
except UnicodeDecodeError as error:
    print(error.reason)
print(open("e.txt", encoding="utf-8", errors="replace").read() == "\ufffd")
## pathlib: pure paths
from pathlib import PurePosixPath, PureWindowsPath
p = PurePosixPath("/a/b/c.tar.gz")
print(p.name, p.stem, p.suffixes, p.parent, p.with_suffix(".zip"), p.relative_to("/a"), p / "../d", p.match("*.gz"), p.parts)
print(PureWindowsPath(r"C:\x\y").drive, PurePosixPath("a//b/./c"))
## pathlib: files and folders
from pathlib import Path
d = Path("d1")
d.mkdir()
(d / "x").mkdir(parents=True)
(d / "x" / "f.txt").write_text("hi")
(d / "g.txt").write_bytes(b"12")
print(sorted(str(p) for p in d.rglob("*")), [p.name for p in d.glob("*.txt")], (d / "g.txt").stat().st_size, (d / "x").is_dir(), (d / "none").exists())
(d / "g.txt").rename(d / "h.txt")
(d / "h.txt").unlink()
print(sorted(p.name for p in d.iterdir()))
## os: folders and walks
import os
os.makedirs("w/a/b")
open("w/a/f", "w").close()
print([(r, sorted(ds), fs) for r, ds, fs in os.walk("w")], os.path.join("a", "/b"), os.path.splitext("x.tar.gz"), os.path.normpath("a/../b/./c"))
os.rename("w/a/f", "w/g")
os.remove("w/g")
os.rmdir("w/a/b")
print(os.listdir("w"), os.path.exists("w/g"))
## os: errors
import os
for how in (lambda: os.remove("none"), lambda: os.mkdir("q") or os.mkdir("q"), lambda: os.rmdir("none"), lambda: os.listdir("none")):
    try:
        how()
    except OSError as error:
        print(type(error).__name__)
## os: stat and scandir
import os, stat
with open("s.txt", "w") as f:
    f.write("12345")
s = os.stat("s.txt")
print(s.st_size, stat.S_ISREG(s.st_mode), sorted(e.name for e in os.scandir(".") if e.is_file() and e.name == "s.txt"))
os.truncate("s.txt", 2)
print(os.path.getsize("s.txt"))
## shutil
import os, shutil
os.makedirs("t1/u")
open("t1/u/f.txt", "w").write("x")
shutil.copytree("t1", "t2")
shutil.move("t2/u/f.txt", "t2/g.txt")
shutil.copy("t2/g.txt", "t2/u/h.txt")
print(sorted(os.listdir("t2")), os.listdir("t2/u"))
shutil.rmtree("t2")
print(os.path.exists("t2"))
## tempfile
import os, tempfile
with tempfile.TemporaryDirectory() as d:
    p = os.path.join(d, "f")
    open(p, "w").write("x")
    print(os.listdir(d))
print(os.path.exists(d))
with tempfile.TemporaryFile("w+") as f:
    f.write("abc")
    f.seek(1)
    print(f.read())
## csv in a file
import csv
with open("r.csv", "w", newline="") as f:
    csv.writer(f).writerows([["n", "v"], ["a", 1], ["b", 2]])
with open("r.csv", newline="") as f:
    print(sum(int(r["v"]) for r in csv.DictReader(f)))
print(open("r.csv", "rb").read())
## json in a file
import json
with open("j.json", "w") as f:
    json.dump({"a": [1, 2]}, f)
print(json.load(open("j.json")))
## glob
import glob, os
os.makedirs("gl/a")
for n in ("gl/1.txt", "gl/2.md", "gl/a/3.txt"):
    open(n, "w").close()
print(sorted(glob.glob("gl/*.txt")), sorted(glob.glob("gl/**/*.txt", recursive=True)))
## gzip and zip files
import gzip, zipfile
with gzip.open("z.gz", "wt") as f:
    f.write("packed")
print(gzip.open("z.gz", "rt").read())
with zipfile.ZipFile("z.zip", "w") as z:
    z.write("z.gz", "inner.gz")
print(zipfile.ZipFile("z.zip").namelist(), zipfile.is_zipfile("z.zip"))
## sqlite3 in a file
import sqlite3
c = sqlite3.connect("db.sqlite")
with c:
    c.execute("create table t(a)")
    c.execute("insert into t values (1)")
c.close()
print(sqlite3.connect("db.sqlite").execute("select count(*) from t").fetchone())
## fileinput, linecache, filecmp
import filecmp, fileinput, linecache
open("l1", "w").write("a\nb\n")
open("l2", "w").write("a\nb\n")
print([l.strip() for l in fileinput.input(["l1", "l2"])], linecache.getline("l1", 2), filecmp.cmp("l1", "l2", shallow=False))
## standard streams
import sys
print("to stdout", file=sys.stdout)
sys.stdout.write("written\n")
print(sys.stdin.read() == "", sys.stdout.encoding.lower())
try:
    input("? ")
except EOFError:
    print("end of file")
## working folder
import os
from pathlib import Path
os.makedirs("here")
open("here/f.txt", "w").write("in")
os.chdir("here")
print(open("f.txt").read(), Path("f.txt").resolve().name, os.path.basename(os.getcwd()))
## a module of one's own
import sys
open("mymod.py", "w").write("def twice(x):\n    return x * 2\n")
sys.path.insert(0, ".")
import mymod
print(mymod.twice(4))
