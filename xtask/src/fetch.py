"""Fetches wheels by file name and sha256, and unpacks chosen members of them.

Standard library only, Python 3.8 or later. The request is one JSON document on stdin; what happens
is told as one JSON object a line on stdout; an error is one line on stderr and exit status 1.

    {"op": "fetch", "to": DIR, "ready": [DIR...], "wheels": [{"file": NAME, "sha256": HEX}...]}
    {"op": "unpack", "wheel": FILE, "to": DIR, "rules": [{"match": GLOB, "strip": PREFIX, "to": SUBDIR}...]}

The package index is the one pip would use: its environment variables, then its configuration.
A download that breaks off goes on where it stopped, also in a later run.
"""

import ast
import base64
import fnmatch
import hashlib
import html.parser
import http.client
import json
import netrc
import os
import re
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
import zipfile

BLOCK = 1 << 20
ATTEMPTS = 6
TIMEOUT_S = 60


class Stop(Exception):
    """Ends the program with this text."""


def tell(**what):
    print(json.dumps(what), flush=True)


def without_password(url):
    parts = urllib.parse.urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


# ---------------------------------------------------------------- which index, and how to reach it


def pip_settings():
    """pip's own reading of its files and variables; only the variables where there is no pip."""
    settings = {}
    try:
        listed = subprocess.run(
            [sys.executable, "-m", "pip", "config", "list"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=60, text=True,
        ).stdout
    except (OSError, subprocess.SubprocessError):
        listed = ""
    for line in listed.splitlines():
        name, _, value = line.partition("=")
        # a section for one command wins over [global]; `download` is what this is
        section, _, option = name.strip().rpartition(".")
        if section in ("global", "download"):
            try:
                settings.setdefault(option, {})[section] = ast.literal_eval(value.strip())
            except (ValueError, SyntaxError):
                pass
    settings = {k: v.get("download", v.get("global")) for k, v in settings.items()}
    for name, value in os.environ.items():
        if name.startswith("PIP_") and value:
            settings[name[4:].lower().replace("_", "-")] = value
    return settings


class Index:
    def __init__(self):
        settings = pip_settings()
        self.links = str(settings.get("find-links", "")).split()
        self.urls = [] if str(settings.get("no-index", "")).lower() in ("1", "true", "yes", "on") else (
            [settings.get("index-url") or "https://pypi.org/simple"] + str(settings.get("extra-index-url", "")).split()
        )
        cert = settings.get("cert")
        context = ssl.create_default_context(cafile=cert if cert and os.path.isfile(cert) else None)
        if settings.get("client-cert"):
            context.load_cert_chain(settings["client-cert"])
        handlers = [urllib.request.HTTPSHandler(context=context)]
        if settings.get("proxy"):
            handlers.append(urllib.request.ProxyHandler({"http": settings["proxy"], "https": settings["proxy"]}))
        self.opener = urllib.request.build_opener(*handlers)
        self.logins = {}
        for url in self.urls:
            parts = urllib.parse.urlsplit(url)
            if parts.username:
                self.logins[parts.hostname] = (urllib.parse.unquote(parts.username), urllib.parse.unquote(parts.password or ""))
        self.urls = [without_password(u).rstrip("/") for u in self.urls]

    def login(self, host):
        if host in self.logins:
            return self.logins[host]
        try:
            found = netrc.netrc().authenticators(host)
        except (OSError, netrc.NetrcParseError):
            return None
        return (found[0], found[2]) if found else None

    def open(self, url, **headers):
        request = urllib.request.Request(url, headers={"User-Agent": "postern-xtask", **headers})
        login = self.login(urllib.parse.urlsplit(url).hostname or "")
        if login:
            token = base64.b64encode(":".join(login).encode()).decode()
            request.add_unredirected_header("Authorization", "Basic " + token)
        return self.opener.open(request, timeout=TIMEOUT_S)

    def find(self, file):
        """The address of a wheel, by its exact file name."""
        project = re.sub(r"[-_.]+", "-", file.split("-")[0]).lower()
        tried = []
        for index in self.urls:
            page = "%s/%s/" % (index, project)
            try:
                with self.open(page, Accept="application/vnd.pypi.simple.v1+json, text/html;q=0.5") as answer:
                    body, kind, page = answer.read(), answer.headers.get("Content-Type", ""), answer.geturl()
            except (urllib.error.URLError, OSError) as error:
                tried.append("%s: %s" % (page, error))
                continue
            if "json" in kind:
                links = {f["filename"]: f["url"] for f in json.loads(body)["files"]}
            else:
                links = Anchors(body.decode("utf-8", "replace")).links
            if file in links:
                return urllib.parse.urljoin(page, links[file])
            tried.append("%s: does not list %s" % (page, file))
        raise Stop("%s was not found; %s" % (file, "; ".join(tried) or "no package index is configured"))


class Anchors(html.parser.HTMLParser):
    """File name to address, from the HTML form of an index page."""

    def __init__(self, text):
        super().__init__()
        self.links = {}
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        href = dict(attrs).get("href") if tag == "a" else None
        if href:
            path = urllib.parse.urlsplit(href).path
            self.links[urllib.parse.unquote(path.rpartition("/")[2])] = href


# ---------------------------------------------------------------- fetching


def digest(path, file):
    total, done, sha = os.path.getsize(path), 0, hashlib.sha256()
    with open(path, "rb") as source:
        while True:
            block = source.read(BLOCK)
            if not block:
                return sha.hexdigest()
            sha.update(block)
            done += len(block)
            tell(phase="checking", file=file, done=done, total=total)


def receive(index, url, part, file):
    """One attempt; goes on behind what `part` already holds."""
    have = os.path.getsize(part) if os.path.exists(part) else 0
    headers = {"Range": "bytes=%d-" % have} if have else {}
    try:
        answer = index.open(url, **headers)
    except urllib.error.HTTPError as error:
        if error.code == 416 and have:  # nothing is left to send
            return
        raise
    with answer:
        if have and answer.status != 206:
            have = 0
        length = answer.headers.get("Content-Length")
        total = have + int(length) if length else 0
        with open(part, "ab" if have else "wb") as out:
            while True:
                block = answer.read(BLOCK)
                if not block:
                    break
                out.write(block)
                have += len(block)
                tell(phase="fetching", file=file, done=have, total=total)
        if have < total:
            raise OSError("the connection closed at %d of %d bytes" % (have, total))


def fetch_one(index, wheel, to, ready):
    file, want = wheel["file"], wheel["sha256"]
    for folder in [to, *ready, *index.links]:
        path = os.path.join(folder, file)
        if os.path.isfile(path):
            if digest(path, file) == want:
                return path
            print("%s is not the file wanted (other sha256)" % path, file=sys.stderr)
            if folder == to:
                os.remove(path)
    path, part = os.path.join(to, file), os.path.join(to, want[:16] + ".part")
    for attempt in range(1, ATTEMPTS + 1):
        try:
            url = index.find(file)
            print("%s from %s" % (file, without_password(url)), file=sys.stderr)
            receive(index, url, part, file)
            got = digest(part, file)
            if got == want:
                os.replace(part, path)
                return path
            os.remove(part)
            problem = "its sha256 is %s, not %s" % (got, want)
        except (urllib.error.URLError, http.client.HTTPException, OSError) as error:
            problem = str(error)
        print("%s, attempt %d of %d: %s" % (file, attempt, ATTEMPTS, problem), file=sys.stderr)
        if attempt < ATTEMPTS:
            time.sleep(min(2 ** attempt, 20))
    raise Stop("%s: %s" % (file, problem))


# ---------------------------------------------------------------- unpacking


def unpack(wheel, to, rules):
    """Streams the members that a rule matches into `to`; a rule that matches none is an error."""
    with zipfile.ZipFile(wheel) as archive:
        chosen, used = {}, set()
        for info in archive.infolist():
            for number, rule in enumerate(rules):
                if info.is_dir() or not fnmatch.fnmatchcase(info.filename, rule["match"]):
                    continue
                name = info.filename[len(rule["strip"]):] if "strip" in rule else info.filename.rpartition("/")[2]
                target = os.path.normpath(os.path.join(rule["to"], name))
                if os.path.isabs(target) or target.startswith(".."):
                    raise Stop("%s holds a file outside of itself: %s" % (wheel, info.filename))
                chosen[target] = info
                used.add(number)
                break
        for number, rule in enumerate(rules):
            if number not in used:
                raise Stop("%s holds nothing like %s" % (wheel, rule["match"]))
        total, done = sum(i.file_size for i in chosen.values()), 0
        file = os.path.basename(wheel)
        for target, info in chosen.items():
            path = os.path.join(to, target)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with archive.open(info) as source, open(path, "wb") as out:
                while True:  # the zip's own checksum is compared at the end of each member
                    block = source.read(BLOCK)
                    if not block:
                        break
                    out.write(block)
                    done += len(block)
                    if len(block) == BLOCK:
                        tell(phase="unpacking", file=file, done=done, total=total)
        tell(phase="unpacking", file=file, done=total, total=total)


def main():
    if sys.version_info < (3, 8):
        raise Stop("Python 3.8 or later is needed, this is %s" % sys.version.split()[0])
    request = json.load(sys.stdin)
    if request["op"] == "unpack":
        unpack(request["wheel"], request["to"], request["rules"])
        return
    os.makedirs(request["to"], exist_ok=True)
    index = Index()
    for wheel in request["wheels"]:
        tell(ready=fetch_one(index, wheel, request["to"], request["ready"]))


try:
    main()
except Stop as stop:
    sys.exit(str(stop))
except (OSError, zipfile.BadZipFile, KeyError, ValueError) as error:
    sys.exit("%s: %s" % (type(error).__name__, error))
